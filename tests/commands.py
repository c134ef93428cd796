"""Commands as a user types them: what they print, and how they fail."""

from typer.testing import CliRunner

from mercer.cli.root import app


def run(*args, stdin=None, code=0):
    result = CliRunner().invoke(app, [str(arg) for arg in args], input=stdin)
    assert result.exit_code == code, result.output + repr(result.exception)
    return result


def failure(*args, stdin=None) -> str:
    """Run a command that must fail, and return its one line on standard error."""
    result = run(*args, stdin=stdin, code=2)
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1, result.stderr
    assert result.stdout == ""
    return lines[0]
