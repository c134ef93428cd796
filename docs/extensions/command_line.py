"""The directive `command-line`: every command of `mercer` with its arguments and options, as the code declares them."""

import re
from collections.abc import Iterable
from enum import Enum
from typing import Any

import typer
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def commands() -> dict[str, Any]:
    """Return the commands by name, in the order of `mercer --help`."""
    from mercer.cli.root import app

    return {name: one for name, one in typer.main.get_command(app).commands.items() if not one.hidden}


def markdown() -> str:
    """Return the text of the page: one section per command."""
    return "\n\n".join(_section(name, one) for name, one in commands().items())


def _section(name: str, command: Any) -> str:
    given = [one for one in command.params if one.param_type_name == "argument" and not one.hidden]
    options = [one for one in command.params if one.param_type_name == "option" and not one.hidden]
    shown = " ".join(_argument(one) for one in given)
    parts = [
        f"## `mercer {name}`",
        _help(command.help or ""),
        f"```text\n{f'mercer {name} [OPTIONS] {shown}'.rstrip()}\n```",
    ]
    if given:
        parts.append(_table("argument", ((f"`{_bars(one.metavar or one.name.upper())}`", one) for one in given)))
    if options:
        parts.append(_table("option", ((_option(one), one) for one in options)))
    return "\n\n".join(parts)


def _argument(one: Any) -> str:
    name = (one.metavar or one.name.upper()).removesuffix("...") + ("..." if one.nargs != 1 else "")
    return name if one.required else f"[{name}]"


def _option(one: Any) -> str:
    value = "" if one.is_flag else f" {one.metavar or one.name.upper()}"
    return ", ".join(f"`{name}{value}`" for name in (*one.opts, *one.secondary_opts))


def _table(heading: str, rows: Iterable[tuple[str, Any]]) -> str:
    lines = [f"| {heading} | meaning |", "|---|---|"]
    return "\n".join([*lines, *(f"| {name} | {_cell(_meaning(one))} |" for name, one in rows)])


def _choices(one: Any) -> list[str]:
    """Return the values that an option can have, where they are listed in the code."""
    kind = getattr(getattr(one, "type_descriptor", None), "annotation", None)  # as typer 0.29 has it
    if isinstance(kind, type) and issubclass(kind, Enum):
        return [str(member.value) for member in kind]
    return list(getattr(getattr(one, "type", None), "choices", ()))  # as click has it


def _meaning(one: Any) -> str:
    *others, last = [f"`{value}`" for value in _choices(one)] or [""]
    text = (f"{', '.join(others)} or {last}. " if others else "") + (one.help or "")
    if one.required and one.param_type_name == "option":
        text = f"{text} (required)"
    told = one.default is None or one.default is False or one.default == () or "default" in text
    return text if told or callable(one.default) else f"{text} (default: {one.default})"


def _cell(text: str) -> str:
    plain = re.sub(r"\s+", " ", re.sub(r"\[/?\w+\]", "", text))
    return _listed(_bars(plain).replace("*", r"\*").replace("<", r"\<"))


def _bars(text: str) -> str:
    return text.replace("|", r"\|")


def _listed(text: str) -> str:
    """Return a cell that begins with `name: meaning; name: meaning` with one name per line."""
    if not re.match(r"[a-z]+: .*; [a-z0-9]+-[a-z0-9-]+: ", text):
        return text
    names = re.sub(r"; (?=[a-z0-9]+-[a-z0-9-]+: )", "<br>", text)
    named = re.sub(r"(^|<br>)([a-z0-9-]+): ", r"\1`\2`: ", names)
    return named.replace(" (default", "<br>(default")


def _help(text: str) -> str:
    """Return the help with lines that are examples as code."""
    parts = text.split("\n\n")
    return "\n\n".join(f"```\n{part}\n```" if part.startswith("mercer ") else part for part in parts)


class CommandLine(SphinxDirective):
    """All commands of the command line."""

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        return self.parse_text_to_nodes(markdown(), allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("command-line", CommandLine)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
