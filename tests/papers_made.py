"""Small experiments that tests of the papers' machinery run."""

from papers.comparison import number
from papers.drawing import lines, panels
from papers.experiment import SCALES, Drawing, Experiment, Outcome, Run


def made(run, name="small", **given):
    scales = {scale: {"n": k} for k, scale in enumerate(SCALES)}
    return Experiment(name, "t", ("Claim 1",), run, "did <b>", "do", scales, ("open & shut",), ("differs",), **given)


def ordinary(run: Run) -> Outcome:
    figure, (axes,) = panels([("t", "x", "y")])
    lines(axes, {"line": ([0, 1], [0, run.settings["n"]])})
    return Outcome({"figure": Drawing(figure, "a < b")}, (number("q", 1.0, 1.0, within=0.1),), ("seen",))
