"""Figure 1: the steps of the algorithm on the boundary of the polytope."""

from typing import Any

import numpy as np

from mercer import L1KernelPCA
from papers.comparison import Comparison, claim, reading
from papers.drawing import COLOURS, lines, panels
from papers.experiment import Drawing, Experiment, Outcome, Run
from papers.kim2019._path import Path, path, signs


def example(points: int, seed: int = 0) -> Any:
    """Return points of the plane."""
    return np.random.default_rng(seed).standard_normal((points, 2))


def boundary(A: Any, angles: Any) -> Any:
    """Return the points where rays from the origin meet the boundary of P: sum_i |a_i' x| = 1."""
    rays = np.column_stack([np.cos(angles), np.sin(angles)])
    return rays / np.abs(rays @ A.T).sum(axis=1, keepdims=True)


def steps(A: Any, found: Path) -> tuple[Any, Any]:
    """Return x^1, x^2, ... by (17), and z^0, z^1, ... by (16)."""
    y = found.signs @ A
    return y / np.abs(y @ A.T).sum(axis=1, keepdims=True), y / (y**2).sum(axis=1, keepdims=True)


def run(given: Run) -> Outcome:
    """Run the algorithm from many points of the boundary, and draw the longest path."""
    A = example(given.settings["points"])
    K = A @ A.T
    angles = np.linspace(0, 2 * np.pi, 2000)
    edge = boundary(A, angles)
    starts = edge[:1000:10]  # half of the boundary; the other half mirrors it
    ways = [path(K, np.linalg.pinv(A).T @ x) for x in starts]
    chosen = max(range(len(ways)), key=lambda k: (len(ways[k].signs), ways[k].gaps[0]))
    model = L1KernelPCA(1, kernel="linear", center=False, init="best", refine="flip").fit(A)
    figure = _draw(A, edge, starts[chosen], ways[chosen])
    table = (*_table(A, edge, ways, model), _often(given.settings["points"], given.settings["sets"]))
    return Outcome({"figure1": Drawing(figure, _CAPTION)}, table)


def _often(points: int, sets: int) -> Comparison:
    """Tell how often the end is the nearest point of the boundary, over sets of points and starts."""
    angles, reached = np.linspace(0, np.pi, 400), []
    for seed in range(sets):
        A = example(points, seed)
        edge = boundary(A, angles)
        nearest = float(np.linalg.norm(edge, axis=1).min())
        ways = [path(A @ A.T, np.linalg.pinv(A).T @ x) for x in edge[::20]]
        reached += [way.norms[-1] <= nearest * (1 + 1e-9) for way in ways]
    text = f"{100 * np.mean(reached):.0f} % of {len(reached)} starts on {sets} sets of points"
    return reading("Algorithm 1 ends at the nearest point of the boundary", text, note="a local optimum is promised")


def _table(A: Any, edge: Any, found: list[Path], model: Any) -> list[Comparison]:
    rises = max(float(np.max(np.diff(one.norms), initial=0.0)) for one in found)
    ends = np.array([one.signs[-1] @ A for one in found])
    turned = max(float(np.abs(one.signs[-1] - signs(A @ y)).max()) for one, y in zip(found, ends, strict=True))
    nearest = float(np.linalg.norm(edge, axis=1).min())
    most = max(len(one.signs) for one in found)
    return [
        claim("Lemma 1: |x^k| never grows", "never", f"largest rise {rises:.1e}", rises < 1e-12),
        claim(
            "Corollary 1: the end is perpendicular to its face, c = sgn(K c)",
            "always",
            f"{len(found)} of {len(found)} starts" if turned == 0 else "not always",
            turned == 0,
        ),
        claim(
            "Theorem 1: steps until the signs stay",
            "finite",
            f"at most {most} from {len(found)} starts",
            most <= 2 ** len(A),
        ),
        claim(
            "Proposition 1: 1 / objective of L1KernelPCA is the distance of the boundary from the origin",
            "equal",
            f"{1 / model.objective_[0]:.6f} and {nearest:.6f}",
            bool(abs(1 / model.objective_[0] / nearest - 1) < 1e-4),
            note='the nearest of 2000 points of the boundary; L1KernelPCA with init="best", refine="flip"',
        ),
    ]


_CAPTION = (
    "The boundary of P = {x: sum_i |a_i' x| <= 1}. From an iterate x (dots) the algorithm goes to the foot z (squares) "
    "of the perpendicular from the origin on the line of its face, and back along the ray to the boundary. Dotted: the "
    "circle through the nearest point of the boundary, where (2) has its optimum. Right: the norms."
)


def _draw(A: Any, edge: Any, first: Any, found: Path) -> Any:
    figure, (plane, fall) = panels(
        [("The boundary of P, and the path", "x1", "x2"), ("Distance from the origin", "step k", "norm")], width=4.8
    )
    x, z = steps(A, found)
    x = np.vstack([first, x])
    lengths = np.linalg.norm(edge, axis=1)
    plane.plot(*edge.T, color=COLOURS[-1], linewidth=1)
    plane.plot(*(edge / lengths[:, None] * lengths.min()).T, color=COLOURS[2], linewidth=0.9, linestyle=":")
    for k, foot in enumerate(z):
        plane.plot(*np.vstack([x[k], foot]).T, color=COLOURS[0], linewidth=1)
        plane.plot(*np.vstack([foot, x[k + 1]]).T, color=COLOURS[0], linewidth=1)
        plane.plot(*np.vstack([[0, 0], x[k + 1]]).T, color="#bbbbbb", linewidth=0.7, linestyle="--")
    for k, point in enumerate(x):
        plane.annotate(f"x{k}", point, (6, 3), textcoords="offset points", fontsize=8)
    plane.plot(*z.T, "s", color=COLOURS[3], markersize=4, label="z")
    plane.plot(*x.T, "o", color=COLOURS[1], markersize=4, label="x")
    plane.set_aspect("equal", adjustable="datalim")
    plane.legend(frameon=False, fontsize=8)
    lines(
        fall,
        {
            "|x|": (np.arange(len(found.norms)), found.norms),
            "|z|": (np.arange(len(z)), np.linalg.norm(z, axis=1)),
        },
    )
    fall.set_xticks(range(len(found.norms)))
    fall.axhline(lengths.min(), color=COLOURS[2], linewidth=0.9, linestyle=":")
    return figure


EXPERIMENT = Experiment(
    name="figure1",
    title="the geometry of the algorithm",
    items=("Figure 1",),
    run=run,
    paper_did="A sketch of one step: from x to the nearest point z of the line of its face, and back to the boundary "
    "of P. Lemma 1, Proposition 1, Corollary 1 and Theorem 1 describe the result.",
    we_do="Draws the polytope of real points of the plane and the path of the algorithm on it, and checks the "
    "statements from many starts.",
    open_choices=("The points; the start, of a hundred on the boundary the one with the longest path.",),
    differences=(
        "Equation (18) has c'Kc instead of sum_i |(K c)_i|; they are equal only at the end. Here (17) is used.",
    ),
    scales={
        "full": {"points": 9, "sets": 200},
        "quick": {"points": 9, "sets": 50},
        "tiny": {"points": 6, "sets": 3},
    },
)
