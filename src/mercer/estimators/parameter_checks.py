"""Checks of parameters that are done once per value: scikit-learn's take as long as a fit on a hundred rows."""

from functools import cache
from typing import Any

_PLAIN = (str, int, float, bool, type(None))  # values of these types never change
_MOST_ACCEPTED = 4096

_accepted: set[tuple[Any, ...]] = set()


class ParameterChecks:
    """The part of an estimator that remembers which parameters scikit-learn's checks have accepted."""

    @classmethod
    def _get_param_names(cls) -> list[str]:
        own: Any = cls
        return list(_names(own))

    def _validate_params(self) -> None:
        """Check the parameters as scikit-learn does, unless all of them were accepted before."""
        cls: Any = type(self)
        values: list[tuple[Any, ...]] = [(cls, name, type(value := getattr(self, name)), value) for name in _names(cls)]
        new = [value for value in values if value[2] not in _PLAIN or value not in _accepted]
        if not new:
            return
        super()._validate_params()  # type: ignore[misc]
        if len(_accepted) > _MOST_ACCEPTED:
            _accepted.clear()
        _accepted.update(value for value in new if value[2] in _PLAIN)


@cache
def _names(cls: type[ParameterChecks]) -> tuple[str, ...]:
    return tuple(super(ParameterChecks, cls)._get_param_names())  # type: ignore[misc]
