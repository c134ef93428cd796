"""Learning that happens as a whole or not at all."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from numpy.random import RandomState

Method = TypeVar("Method", bound=Callable[..., Any])


def all_or_nothing(method: Method) -> Method:
    """Return the method such that the object is as before the call wherever it raises.

    Attributes are put back by reference, which costs next to nothing. It asks of the method that it replaces what it
    changes: it writes into copies or into what it has made itself, never into an array, list or state that the object
    held before. Random generators, which cannot be replaced, are set back.
    """

    @wraps(method)
    def whole(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = vars(self).copy()
        generators = [(value, value.get_state()) for value in before.values() if isinstance(value, RandomState)]
        try:
            return method(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            for generator, state in generators:
                generator.set_state(state)
            raise

    return cast(Method, whole)
