"""Classes for a cluster take the parameters of the class of the same name on one machine, and a few of their own."""

import inspect
import re
from collections.abc import Callable
from typing import Any, TypeVar

Cls = TypeVar("Cls", bound=type)

OWN: dict[str, str] = {
    "client": """client : distributed.Client or None, default=None
    The client of the cluster. None: the active client. If there is none, Dask's local scheduler does the work.""",
    "checkpoint": """checkpoint : str, path or None, default=None
    Where to keep what is done so far: {what}. It is written as a whole or not at all. A fit with the same rows and
    parameters that finds it there continues from it, in any process. It is removed when the fit is complete. None:
    nothing is written.""",
}


def like(local: type, what: str | None = None) -> Callable[[Cls], Cls]:
    """Return a decorator that gives a class the parameters of another, `client`, and `checkpoint` if `what` is kept."""

    def decorate(cls: Cls) -> Cls:
        own = ("client",) if what is None else ("client", "checkpoint")
        signature = _extended(local, own)

        def __init__(self: Any, *args: Any, **params: Any) -> None:  # noqa: N807 - it becomes the method
            bound = signature.bind(self, *args, **params)
            bound.apply_defaults()
            for name, value in list(bound.arguments.items())[1:]:
                setattr(self, name, value)

        __init__.__signature__ = signature  # type: ignore[attr-defined]
        cls.__init__ = __init__  # type: ignore[misc]
        cls._own = own  # type: ignore[attr-defined]
        if cls.__doc__ is not None:  # python -OO drops them
            cls.__doc__ = _documented(cls.__doc__, local, own, what)
        return cls

    return decorate


def _extended(local: Any, own: tuple[str, ...]) -> inspect.Signature:
    signature = inspect.signature(local.__init__)
    more = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in own]
    return signature.replace(parameters=[*signature.parameters.values(), *more], return_annotation=None)


def _documented(own_text: str, local: type, own: tuple[str, ...], what: str | None) -> str:
    """Return the text of a class with the section on parameters of another class, and its own ones."""
    before, examples = inspect.cleandoc(own_text).split("Attributes\n----------", 1)
    text = inspect.cleandoc(local.__doc__ or "")
    found = re.search(r"^Parameters\n-+\n(.*?)\n\n^\w+\n-+\n", text, re.DOTALL | re.MULTILINE)
    # the references are listed on the page of the other class
    parameters = re.sub(r"\[(\w+)\]_", r"[\1]", found.group(1) if found else "")
    more = "\n".join(OWN[name].format(what=what) for name in own)
    also = f"See Also\n--------\nmercer.{local.__name__} : The same on one machine; `to_local` returns it.\n\n"
    examples = examples.replace("\nExamples\n", f"\n{also}Examples\n", 1)
    return f"{before}Parameters\n----------\n{parameters}\n{more}\n\nAttributes\n----------{examples}\n"
