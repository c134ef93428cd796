"""What every estimator with a kernel shares: the parameters that describe it, and who watches a fit."""

from typing import Any

from mercer.arrays import Points
from mercer.events import Channel, Observer
from mercer.kernels.base import Kernel
from mercer.kernels.resolve import KernelSpec, resolve_gamma, resolve_kernel
from mercer.kernels.user_given import Precomputed
from mercer.progress import channel_to


class KernelParameters:
    """The part of an estimator that makes a kernel of `kernel`, `gamma`, `degree`, `coef0` and `kernel_params`."""

    kernel: Any
    gamma: Any
    degree: Any
    coef0: Any
    kernel_params: dict[str, Any] | None
    verbose: Any
    observers: tuple[Observer, ...] = ()

    def _channel(self) -> Channel:
        return channel_to(self.observers, self.verbose)

    def _make_kernel(self, X: Points, gamma: float | None = None) -> Kernel:
        """Freeze gamma as `gamma_` and return the kernel object that the parameters describe.

        A `gamma` that is given here is taken instead of the parameter.
        """
        self.gamma_ = resolve_gamma(self.gamma if gamma is None else gamma, X, kernel=self.kernel)
        spec = KernelSpec(self.kernel, self.gamma_, self.degree, self.coef0, self.kernel_params or {})
        return resolve_kernel(spec, X)

    @property
    def _precomputed(self) -> bool:
        return self.kernel == "precomputed" or isinstance(self.kernel, Precomputed)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = self.kernel != "chi2"
        tags.input_tags.pairwise = self._precomputed
        tags.input_tags.positive_only = self.kernel == "chi2"
        return tags
