"""The methods that `mercer fit` offers: the decompositions of the registry, with what suits the command line."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from mercer.cli.wording import OptionError
from mercer.registry import DECOMPOSITIONS

_GAUSSIAN: Mapping[str, Any] = {"n_components": 10, "kernel": "rbf", "gamma": "median"}


@dataclass(frozen=True)
class Method:
    """An estimator class, with its name and default parameters on the command line."""

    cls: str  # name of a decomposition in the registry; its module is imported when it is used
    help: str
    defaults: Mapping[str, Any] = field(default_factory=lambda: _GAUSSIAN)

    @property
    def name(self) -> str:
        """Return the name on the command line."""
        return name_of(self.cls)

    @property
    def is_linear(self) -> bool:
        """Tell whether the method has no kernel, and so at most as many components as there are columns."""
        return "kernel" not in self.defaults

    def make(self, params: Mapping[str, Any], **where_known: Any) -> Any:
        """Make the estimator with its defaults, these parameters, and those of `where_known` that the class has."""
        estimator = getattr(import_module(DECOMPOSITIONS[self.cls]), self.cls)()
        known = estimator.get_params(deep=False)
        unknown = [key for key in params if key not in known]
        if unknown:
            wrong = ", ".join(map(repr, unknown))
            raise OptionError(f"{self.name} has no parameter {wrong}; it has {', '.join(sorted(known))}.")
        if params.get("n_components", 1) is None and self.name != EXACT:
            raise OptionError(f"--components all is for --method {EXACT} only. Give {self.name} a number such as 10.")
        more = {key: value for key, value in where_known.items() if key in known}
        return estimator.set_params(**{**self._fitting_defaults(params), **more, **params})

    def _fitting_defaults(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Leave out the default gamma if the user chose another kernel."""
        other = params.get("kernel", self.defaults.get("kernel")) != self.defaults.get("kernel")
        return {key: value for key, value in self.defaults.items() if not (other and key == "gamma")}


def name_of(cls: str) -> str:
    """Return the name on the command line of a class: that of KernelPCA is kernel-pca."""
    return re.sub("(?<=[a-z0-9])(?=[A-Z])", "-", cls).lower()


AUTO, EXACT, LANDMARKS = "auto", "kernel-pca", "landmark-kernel-pca"
MANY = 20_000  # rows; with more, exact kernel PCA takes minutes

_OFFERED = (
    Method("KernelPCA", "exact kernel PCA of all rows", {**_GAUSSIAN, "preimage": "auto"}),
    Method("HebbianPCA", "linear PCA learned row by row; reads the rows once", {}),
    Method("HebbianKernelPCA", "kernel PCA learned one sample at a time"),
    Method("OnlineRobustKernelPCA", "robust kernel PCA of a stream; reads the rows once"),
    Method("RobustKernelPCA", "robust kernel PCA: rows far from the others count little"),
    Method("LandmarkKernelPCA", "kernel PCA in the span of landmarks; reads the rows once"),
    Method("IncrementalKernelPCA", "kernel PCA updated with every few rows, on a limited number of points"),
    Method("L1KernelPCA", "L1-norm kernel PCA, by absolute scores; less sensitive to outliers"),
    Method("R1KernelPCA", "kernel PCA by unsquared distances from the subspace"),
)
_METHODS = {method.name: method for method in _OFFERED}


def names() -> list[str]:
    """Return the names of all methods."""
    return list(_METHODS)


def find(name: str) -> Method:
    """Return the method of this name; the ending -kernel-pca or -pca may be left out."""
    for full in (name, f"{name}-kernel-pca", f"{name}-pca"):
        if full in _METHODS:
            return _METHODS[full]
    raise ValueError(f"There is no method {name!r}; use one of {', '.join([AUTO, *_METHODS])}.")


def overview() -> str:
    """Describe all methods in one text, for the help."""
    automatic = f"{AUTO}: {EXACT} for up to {MANY:,} rows, {LANDMARKS} for more"
    return "; ".join([automatic, *(f"{method.name}: {method.help}" for method in _METHODS.values())])


def for_many(params: Mapping[str, Any], limit: int, seed: int) -> Any:
    """Make the estimator that `auto` takes for more than `limit` rows."""
    components = params.get("n_components", 1)
    if params.get("gamma") == "select":
        raise ValueError(
            f"--gamma select needs all rows at once, and there are more than {limit:,}. Take the gamma that `mercer "
            f"select` finds, fewer rows by --rows {limit}, or --method {EXACT}."
        )
    if not isinstance(components, int):
        asked = "all" if components is None else components
        raise ValueError(
            f"--components {asked} needs all rows at once, and there are more than {limit:,}. Give a number such as "
            f"10, fewer rows by --rows {limit}, or --method {EXACT}."
        )
    return find(LANDMARKS).make(params, random_state=seed)


def choice_of_many(limit: int) -> str:
    """Return a message: which model `auto` takes for more than `limit` rows, and how to get the exact one."""
    return (
        f"More than {limit:,} rows: {LANDMARKS} is used; its time is proportional to the number of rows. "
        f"For the exact model use --method {EXACT}."
    )
