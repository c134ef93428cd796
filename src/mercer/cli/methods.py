"""The methods that `mercer fit` offers: a register, so that a new one is one entry."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Method:
    """An estimator class, under the name and with the parameters that suit the command line."""

    name: str
    target: str  # "module:Class", imported when it is asked for
    help: str
    defaults: Mapping[str, Any] = field(default_factory=dict)

    def make(self, params: Mapping[str, Any]) -> Any:
        """Make the estimator, with its defaults overridden by the parameters given."""
        module, _, name = self.target.partition(":")
        estimator = getattr(import_module(module), name)()
        known = estimator.get_params(deep=False)
        unknown = [key for key in params if key not in known]
        if unknown:
            wrong = ", ".join(map(repr, unknown))
            raise ValueError(f"{self.name} has no parameter {wrong}; it has {', '.join(sorted(known))}.")
        return estimator.set_params(**{**self._fitting_defaults(params), **params})

    def _fitting_defaults(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Leave out the default gamma where another kernel than the default one was asked for."""
        other = params.get("kernel", self.defaults.get("kernel")) != self.defaults.get("kernel")
        return {key: value for key, value in self.defaults.items() if not (other and key == "gamma")}


_METHODS: dict[str, Method] = {}


def register(method: Method) -> Method:
    """Offer a method under its name."""
    _METHODS[method.name] = method
    return method


def names() -> list[str]:
    """Name the methods on offer."""
    return list(_METHODS)


def find(name: str) -> Method:
    """Return the method of this name."""
    if name not in _METHODS:
        raise ValueError(f"There is no method {name!r}; choose one of {', '.join(_METHODS)}.")
    return _METHODS[name]


def overview() -> str:
    """Describe all methods in one text, for the help."""
    return "; ".join(f"{method.name}: {method.help}" for method in _METHODS.values())


register(
    Method(
        "kernel-pca",
        "mercer:KernelPCA",
        "exact kernel PCA of all rows",
        {"n_components": 10, "kernel": "rbf", "gamma": "median", "preimage": "auto"},
    )
)

register(
    Method(
        "hebbian-pca",
        "mercer:HebbianPCA",
        "linear PCA learned row by row, in one reading of any number of rows",
    )
)

register(
    Method(
        "hebbian-kernel-pca",
        "mercer:HebbianKernelPCA",
        "kernel PCA learned one sample at a time",
        {"n_components": 10, "kernel": "rbf", "gamma": "median"},
    )
)

register(
    Method(
        "online-robust-kernel-pca",
        "mercer:OnlineRobustKernelPCA",
        "kernel PCA of a stream with outliers in it, in one reading",
        {"n_components": 10, "kernel": "rbf", "gamma": "median"},
    )
)

register(
    Method(
        "robust-kernel-pca",
        "mercer:RobustKernelPCA",
        "kernel PCA that outliers cannot bend",
        {"n_components": 10, "kernel": "rbf", "gamma": "median"},
    )
)

register(
    Method(
        "landmark-kernel-pca",
        "mercer:LandmarkKernelPCA",
        "kernel PCA in the span of landmarks, in one reading of any number of rows",
        {"n_components": 10, "kernel": "rbf", "gamma": "median"},
    )
)

register(
    Method(
        "incremental-kernel-pca",
        "mercer:IncrementalKernelPCA",
        "kernel PCA by updates with every few rows, on a library of points that does not grow",
        {"n_components": 10, "kernel": "rbf", "gamma": "median"},
    )
)

register(
    Method(
        "l1-kernel-pca",
        "mercer:L1KernelPCA",
        "kernel PCA by sums of absolute scores, which outliers move less",
        {"n_components": 10, "kernel": "rbf", "gamma": "median"},
    )
)

register(
    Method(
        "r1-kernel-pca",
        "mercer:R1KernelPCA",
        "kernel PCA by unsquared distances from the subspace",
        {"n_components": 10, "kernel": "rbf", "gamma": "median"},
    )
)
