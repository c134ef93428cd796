"""Draw the pictures of docs/guide/how_it_works.md: python docs/pictures/how_it_works.py [FOLDER]"""

import sys
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from mercer import KernelPCA

GAMMA, COMPONENTS = 2.0, 14
INNER, OUTER, GREY = "#c2571a", "#1f6f8b", "0.75"
_SIDE = 2.9  # inches of one square picture
_COLOURS_OF_A_FILE = 96


def two_rings(n: int = 200, noise: float = 0.08, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return points (n, 2) of two rings, and the number of the ring of each; points of a ring follow each other."""
    rng = np.random.default_rng(seed)
    ring = np.repeat([0, 1], n // 2)
    angle = np.tile(np.linspace(0, 2 * np.pi, n // 2, endpoint=False), 2)
    radius = np.where(ring == 0, 0.6, 1.6)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]) + noise * rng.standard_normal((n, 2)), ring


X, RING = two_rings()
COLOURS = np.where(RING == 0, INNER, OUTER)  # for the reader: the method does not know the rings


def model() -> KernelPCA:
    """Return the fitted model that all pictures show."""
    return KernelPCA(COMPONENTS, kernel="rbf", gamma=GAMMA, preimage="auto").fit(X)


def similarity(rows: np.ndarray, others: np.ndarray, gamma: float = GAMMA) -> np.ndarray:
    """Return exp(-gamma |x - y|^2) for all pairs."""
    return np.asarray(np.exp(-gamma * ((rows[:, None] - others[None]) ** 2).sum(axis=2)))


def plane(steps: int = 120, reach: float = 2.3) -> tuple[np.ndarray, np.ndarray]:
    """Return the points of a grid, and its axis."""
    axis = np.linspace(-reach, reach, steps)
    return np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2), axis


def panels(count: int, width: float = _SIDE) -> tuple[Any, list[Any]]:
    """Return a figure with so many square axes side by side."""
    figure = Figure((width * count, _SIDE + 0.25), layout="constrained")
    return figure, [figure.add_subplot(1, count, i + 1) for i in range(count)]


def points(axes: Any, title: str, colours: Any = COLOURS) -> None:
    """Draw the rows in the plane."""
    axes.scatter(*X.T, c=colours, s=14, linewidths=0)
    axes.set(title=title, aspect="equal", xticks=[], yticks=[], xlim=(-2.3, 2.3), ylim=(-2.3, 2.3))


def rows() -> Any:
    """Step 1: the rows."""
    figure, [axes] = panels(1)
    points(axes, "200 rows with two columns")
    return figure


def straight() -> Any:
    """Step 2: what a straight axis sees."""
    figure, [left, right] = panels(2)
    points(left, "the best straight axis")
    _, _, axes = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    left.plot(*(axes[0][:, None] * [-2.2, 2.2]), color="0.2", lw=1.5)
    position = (X - X.mean(axis=0)) @ axes[0]
    for number, colour in enumerate((INNER, OUTER)):
        right.hist(position[number == RING], bins=24, range=(-2, 2), color=colour, alpha=0.75)
    right.set(title="places along that axis", yticks=[], xlabel="score")
    return figure


def similar() -> Any:
    """Step 3: how similar all rows are to one, for three widths."""
    figure, many = panels(3)
    chosen = 12
    for axes, gamma in zip(many, (0.2, GAMMA, 20.0), strict=True):
        values = similarity(X[[chosen]], X, gamma)[0]
        drawn = axes.scatter(*X.T, c=values, s=16, cmap="viridis", vmin=0, vmax=1, linewidths=0)
        axes.scatter(*X[chosen], s=90, facecolors="none", edgecolors="red", linewidths=1.5)
        axes.set(title=f"gamma = {gamma:g}", aspect="equal", xticks=[], yticks=[])
    figure.colorbar(drawn, ax=many, shrink=0.7, label="similarity")
    return figure


def matrix() -> Any:
    """Step 4: the table of all similarities, before and after centring."""
    figure, [left, right] = panels(2, 3.3)
    K = similarity(X, X)
    centred = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    left.imshow(K, cmap="viridis", vmin=0, vmax=1)
    left.set(title="similarity of all pairs: K", xlabel="row", ylabel="row")
    right.imshow(centred, cmap="RdBu_r", vmin=-0.8, vmax=0.8)
    right.set(title="with the means removed: K'", xlabel="row")
    for axes in (left, right):
        axes.set(xticks=[0, 100, 200], yticks=[0, 100, 200])
    return figure


def fields() -> Any:
    """Step 5: the first components as functions of the place."""
    figure, many = panels(3)
    grid, axis = plane()
    scores = model().transform(grid)
    for number, axes in enumerate(many):
        values = scores[:, number].reshape(len(axis), -1)
        axes.contourf(axis, axis, values, 14, cmap="RdBu_r", vmin=-abs(values).max(), vmax=abs(values).max())
        axes.scatter(*X.T, c="0.15", s=4, linewidths=0)
        axes.set(title=f"component {number + 1}", aspect="equal", xticks=[], yticks=[])
    return figure


def scores() -> Any:
    """Step 6: the rows in the new coordinates."""
    figure, many = panels(2, 3.3)
    found = model().transform(X)
    for axes, second in zip(many, (2, 1), strict=True):
        axes.scatter(found[:, 0], found[:, second], c=COLOURS, s=14, linewidths=0)
        axes.set(title=f"scores 1 and {second + 1}", xlabel="component 1", ylabel=f"component {second + 1}")
    many[1].axhline(-0.1, color="0.3", lw=1)
    return figure


def shares() -> Any:
    """Step 7: how much of the variation each component holds."""
    figure, [axes] = panels(1, 4.4)
    share = KernelPCA(24, kernel="rbf", gamma=GAMMA).fit(X).explained_variance_ratio_
    axes.bar(np.arange(1, 25), 100 * share, color=[OUTER] * COMPONENTS + [GREY] * (24 - COMPONENTS))
    axes.set(title=f"the first {COMPONENTS} hold {share[:COMPONENTS].sum():.0%}", xlabel="component", ylabel="%")
    return figure


def back() -> Any:
    """Step 8: from scores back to rows, which removes noise."""
    figure, [left, right] = panels(2)
    noisy, _ = two_rings(120, noise=0.25, seed=3)
    fitted = model()
    clean = fitted.inverse_transform(fitted.transform(noisy))
    for axes, drawn, title in ((left, noisy, "new rows with more noise"), (right, clean, "back from their scores")):
        axes.scatter(*X.T, c=GREY, s=6, linewidths=0)
        axes.scatter(*drawn.T, c=INNER, s=14, linewidths=0)
        axes.set(title=title, aspect="equal", xticks=[], yticks=[], xlim=(-2.3, 2.3), ylim=(-2.3, 2.3))
    for start, end in zip(noisy, clean, strict=True):
        right.plot(*np.transpose([start, end]), color=INNER, lw=0.6, alpha=0.6)
    return figure


def distance() -> Any:
    """Step 9: the distance from the components, which is large for unusual rows."""
    figure, [axes] = panels(1, 4.2)
    grid, axis = plane()
    values = model().reconstruction_error(grid).reshape(len(axis), -1)
    drawn = axes.contourf(axis, axis, values, 14, cmap="magma_r")
    points(axes, "distance from the components", "0.25")
    unusual = np.array([[0.0, 0.0], [1.1, 0.1], [-2.0, 1.9]])
    axes.scatter(*unusual.T, marker="x", s=60, color="#00a0ff", linewidths=2)
    figure.colorbar(drawn, ax=axes, shrink=0.8)
    return figure


PICTURES: dict[str, Callable[[], Any]] = {
    "1_rows": rows,
    "2_straight": straight,
    "3_similar": similar,
    "4_matrix": matrix,
    "5_fields": fields,
    "6_scores": scores,
    "7_shares": shares,
    "8_back": back,
    "9_distance": distance,
}


def main(folder: str) -> None:
    """Write all pictures."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, draw in PICTURES.items():
        drawn = BytesIO()
        draw().savefig(drawn, dpi=220, bbox_inches="tight")
        few = Image.open(drawn).convert("RGB").quantize(_COLOURS_OF_A_FILE, dither=Image.Dither.NONE)
        few.save(Path(folder) / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else str(Path(__file__).parents[1] / "images" / "how_it_works"))
