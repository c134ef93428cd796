"""Figures of rows that are images."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mercer.plots.canvas import INK, canvas
from mercer.plots.model import scores, spectrum

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Images = Mapping[str, npt.NDArray[Any]]  # each (n, height * width)


def image_grid(
    rows: Images,
    shape: tuple[int, int],
    *,
    ink: bool = True,
    size: float = 0.7,
    figure: "Figure | None" = None,
) -> "Figure":
    """Draw several rows of images below each other, each row with its name, all with the same grey scale.

    The first row of images sets the grey scale.

    Parameters
    ----------
    rows : mapping of str to array of shape (n_images, height * width)
        The images of each row of the figure, by name.
    shape : tuple of two int
        Height and width of an image, in pixels.
    ink : bool, default=True
        Whether large values are dark, as in writing. False: they are bright, as in photographs.
    size : float, default=0.7
        Height and width of a drawn image, in inches.
    figure : matplotlib.figure.Figure or None, default=None
        The figure to draw in. None: a new one, which needs no display.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; `figure.savefig(path)` writes it to a file.

    See Also
    --------
    denoising : Images before and after, with scores and spectrum.
    track_strip : Frames of a video with boxes.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import plots
    >>> images = np.random.default_rng(0).uniform(size=(3, 64))
    >>> figure = plots.image_grid({"noise": images}, (8, 8))
    >>> len(figure.axes)
    3
    """
    most = max(len(pictures) for pictures in rows.values())
    figure = canvas(figure, 1.6 + size * most, (size + 0.05) * len(rows))
    # The first row sets the grey scale, so that extreme noise in other rows does not lower the contrast.
    first = next(iter(rows.values()))
    low, high = float(np.min(first)), float(np.max(first))
    grid = figure.subplots(len(rows), most, squeeze=False, gridspec_kw={"wspace": 0.06, "hspace": 0.06})
    for axes_row, (name, pictures) in zip(grid, rows.items(), strict=True):
        for axes in axes_row:
            axes.set_axis_off()
        for axes, picture in zip(axes_row, pictures, strict=False):
            axes.imshow(np.reshape(picture, shape), cmap="gray_r" if ink else "gray", vmin=low, vmax=high)
        axes_row[0].text(
            -0.15, 0.5, name, transform=axes_row[0].transAxes, ha="right", va="center", fontsize=10, color=INK
        )
    return figure


def denoising(
    rows: Images, shape: tuple[int, int], estimator: Any, X: Any, y: npt.ArrayLike, *, title: str = ""
) -> "Figure":
    """Draw images before and after denoising, and below them the scores and the spectrum of the model.

    Parameters
    ----------
    rows : mapping of str to array of shape (n_images, height * width)
        The images of each row of the figure, by name.
    shape : tuple of two int
        Height and width of an image, in pixels.
    estimator : estimator
        The fitted model, with `transform` and `explained_variance_ratio_`.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The rows whose scores are drawn.
    y : array-like of shape (n_samples,)
        A class or a number per row of X, shown by colour.
    title : str, default=""
        The title of the figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; `figure.savefig(path)` writes it to a file.

    See Also
    --------
    image_grid : Rows of images.
    mercer.denoise : Removes noise from rows.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> model = mercer.KernelPCA(3, kernel="rbf", preimage="auto").fit(X)
    >>> rows = {"noisy": X[:5], "denoised": model.inverse_transform(model.transform(X[:5]))}
    >>> title = "Before and after"
    >>> figure = mercer.plots.denoising(rows, (2, 2), model, X, X[:, 0] > 0, title=title)
    >>> figure.get_suptitle()
    'Before and after'
    """
    figure = canvas(None, 10, 0.72 * len(rows) + 4.2)
    halves = figure.subfigures(2, 1, height_ratios=[0.72 * len(rows), 3.8], squeeze=False)[:, 0]
    quarters = halves[1].subfigures(1, 2, squeeze=False)[0]
    image_grid(rows, shape, figure=halves[0])
    scores(estimator, X, y, figure=quarters[0])
    spectrum(estimator, figure=quarters[1])
    figure.suptitle(title, fontsize=12, color=INK, x=0.02, ha="left")
    return figure
