"""An estimator as the Python expression that builds it."""

from typing import Any

from sklearn.pipeline import Pipeline


def written(estimator: Any) -> str:
    """Return an expression with the parameters that are not the defaults, such as KernelPCA(n_components=4)."""
    if isinstance(estimator, Pipeline):
        return f"make_pipeline({', '.join(written(step) for _, step in estimator.steps)})"
    if not hasattr(estimator, "get_params"):
        return repr(estimator)
    usual = type(estimator)().get_params(deep=False)
    own = {name: getattr(estimator, name) for name in usual}
    changed = [f"{name}={written(value)}" for name, value in own.items() if not _same(value, usual[name])]
    return f"{type(estimator).__name__}({', '.join(changed)})"


def imports(estimator: Any) -> list[str]:
    """Return the lines that import what `written` uses."""
    if isinstance(estimator, Pipeline):
        steps = [line for _, step in estimator.steps for line in imports(step)]
        return [*steps, "from sklearn.pipeline import make_pipeline"]
    parts = [part for part in (estimator, getattr(estimator, "estimator", None)) if part is not None]
    root, *rest = type(estimator).__module__.split(".")
    package = f"{root}.{rest[0]}" if root == "sklearn" else root  # classes of mercer are at its root
    return [f"from {package} import {', '.join(type(part).__name__ for part in parts)}"]


def _same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and a == b
