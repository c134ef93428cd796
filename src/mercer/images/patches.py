"""`PatchDenoiser`: an image without its noise, by kernel PCA of its windows."""

from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from mercer.arrays import Array, IntArray
from mercer.estimators.all_or_nothing import all_or_nothing
from mercer.estimators.denoising import ready
from mercer.estimators.kernel_pca import KernelPCA
from mercer.estimators.model_files import ModelFiles
from mercer.estimators.validation import generator
from mercer.events import Channel, Observer, Tally
from mercer.images.channels import Mixing, is_plain, noisy_channels, unmixed, varying_channels, whitened
from mercer.images.checks import refuse_masked
from mercer.images.noise import estimate_noise, signal_dimensions
from mercer.images.windows import WEIGHTS, OverlapAdd, WindowGrid

Image = npt.NDArray[Any]

_WIDE = 4  # bytes of a pixel from which on hardly any image uses the range of its type
_HUGE = 1e100  # pixels beyond it, or below its inverse, have squares and sums of squares outside of float64
_WIDTH = 5.0  # of the default kernel, in root mean square distances between windows


class PatchDenoiser(ModelFiles, BaseEstimator):  # type: ignore[misc]
    """Remove noise from images by kernel PCA of overlapping windows.

    Windows are cut on a grid, a model is fitted to them, each window is replaced by what the model can express of it,
    and overlapping windows are averaged (sec. 5.2 of [guenter2006]_). The model is learned from the noisy image itself;
    no other images are needed.

    Parameters
    ----------
    window : int, default=9
        Width and height of a window in pixels, at least 2.
    stride : int, default=2
        Number of pixels between neighbouring windows, at most `window`. Smaller values are better and slower.
    estimator : estimator or None, default=None
        An object with `fit`, `transform` and `inverse_transform`, from Mercer or elsewhere; it is cloned. None:
        `KernelPCA` with a wide Gaussian kernel (5 times the root mean square distance between windows), pre-images
        located by neighbours ("kwok"), and as many components as stand out of the noise.
    preimage : str or None, default=None
        How windows are found for scores, one of the values that the estimator's parameter `preimage` takes. None: the
        estimator's own value.
    noise : float or None, default=None
        Standard deviation of the noise, in the unit of the image, for the default estimator. None: estimated from
        differences of neighbouring pixels. Give it where the noise of neighbouring pixels is correlated, or where more
        than half of the image has no noise. Where the noise of the channels differs it is the root mean square over
        all channels that are not constant; how strong each channel's noise is relative to the others, and how it is
        correlated with theirs, is still estimated.
    split : int, default=1
        Cut the image into split x split parts, each with its own model. 2 is the multipatch scheme of the paper.
    remove_mean : bool, default=True
        Subtract the mean of each window (of each mixture in a window, see the notes) before, and add it afterwards.
        False keeps it, as the paper does.
    weights : {"uniform", "hann"}, default="uniform"
        Weights of the pixels of a window where windows overlap: "uniform", all the same; "hann", larger near its
        middle.
    max_windows : int or None, default=3000
        Learn from at most so many windows of each part, chosen at random; all windows are cleaned. None: learn from
        all.
    random_state : int, RandomState instance or None, default=0
        Seed or generator for the choice of windows.

    Attributes
    ----------
    models_ : list of estimators
        The fitted models, one per part, row by row.
    noise_ : float or None
        The noise level that was used, in the unit of the image, as in `noise`. None where an estimator is given.
    mixing_ : ndarray of shape (n_channels, n_mixtures)
        The channels of the image times this matrix are the mixtures that the models were fitted to. Where channels are
        not mixed it has a column with a single 1 for each channel that was cleaned. A model loaded from a file of an
        earlier version does not have it.

    See Also
    --------
    denoise : Removes noise from rows.
    KernelPCA : Exact kernel PCA of rows in memory.
    mercer.metrics.snr : How clean an image is, in decibels.

    Notes
    -----
    Integers (uint8, uint16 and so on) are divided by the largest value of their type before windows are cut, so that
    widths of kernels mean the same for all types; those of 32 and 64 bits by the largest value of the smallest unsigned
    type that holds them, so that values up to 255 count as uint8. Floating-point numbers are taken as they are; with
    the default estimator those beyond 1e100, or all below 1e-100, are divided by a power of two. The result has the
    type and the shape of the image: it is rounded and clipped for integers, and neither for floating-point numbers.
    With the default estimator an image without any noise is returned as it is.

    Constant channels, such as the transparency of an opaque image, stay exactly as they are. With the default estimator
    so do channels without noise, unless `noise` is given. Where the noise of the channels is correlated (a grey image
    stored in three equal channels, most photographs) or differs in strength, the default estimator works on mixtures of
    the channels in which the noise is equally strong and uncorrelated, and changes nothing in mixtures without noise.

    References
    ----------
    .. [guenter2006] Simon Günter, Nicol N. Schraudolph and S. V. N. Vishwanathan, Fast iterative kernel PCA, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import PatchDenoiser
    >>> clean = np.add.outer(np.sin(np.arange(48) / 5), np.cos(np.arange(40) / 4))
    >>> noisy = clean + 0.3 * np.random.default_rng(0).standard_normal(clean.shape)
    >>> better = PatchDenoiser(window=7).denoise(noisy)
    >>> bool(((better - clean) ** 2).mean() < 0.3 * ((noisy - clean) ** 2).mean())
    True
    """

    models_: list[Any]
    noise_: float | None
    mixing_: Array
    observers: tuple[Observer, ...] = ()

    def __init__(
        self,
        window: int = 9,
        stride: int = 2,
        *,
        estimator: Any = None,
        preimage: str | None = None,
        noise: float | None = None,
        split: int = 1,
        remove_mean: bool = True,
        weights: str = "uniform",
        max_windows: int | None = 3000,
        random_state: Any = 0,
    ) -> None:
        self.window = window
        self.stride = stride
        self.estimator = estimator
        self.preimage = preimage
        self.noise = noise
        self.split = split
        self.remove_mean = remove_mean
        self.weights = weights
        self.max_windows = max_windows
        self.random_state = random_state

    @all_or_nothing
    def denoise(self, image: npt.ArrayLike) -> Image:
        """Return the image without its noise.

        A call that raises an error leaves models and noise level of the last one as they were.

        Parameters
        ----------
        image : array-like of shape (height, width) or (height, width, channels)
            The noisy image, of integers or floating-point numbers.

        Returns
        -------
        ndarray
            The cleaned image, with the shape and the type of the given one.

        Raises
        ------
        ValueError
            If the array is not an image of finite real numbers, if it is smaller than a window, or if a parameter is
            out of its range.
        TypeError
            If `estimator` lacks `fit`, `transform` or `inverse_transform`.
        """
        given = _checked_image(image)
        self._check(given.shape)
        unit = _unit(given, rescale=self.estimator is None)
        pixels = (given / unit).astype(np.float64, copy=False).reshape(*given.shape[:2], -1)
        self.models_, self.noise_ = [], None
        mixing = self._mixing(pixels)
        self.mixing_ = mixing.forward
        mixtures = mixing.mixtures(pixels)
        level = self._level(mixtures, unit)
        if level == 0.0:
            return given.copy()
        merged = mixing.merge(pixels, self._denoise_parts(mixtures, level) - mixtures)
        return _as_given(merged.reshape(given.shape) * unit, given.dtype)

    # -- files ---------------------------------------------------------------------------------------------------

    def _check_fitted(self) -> None:
        if not hasattr(self, "models_"):
            raise NotFittedError("This PatchDenoiser has no models yet; call denoise(image) first.")

    def _saved_state(self) -> dict[str, Any]:
        models = {f"model{i}": model for i, model in enumerate(self.models_)}
        mixing = {"mixing_": self.mixing_} if hasattr(self, "mixing_") else {}
        return {"noise_": self.noise_, **mixing, **models}

    def _restore_state(self, state: dict[str, Any]) -> None:
        self.noise_ = state["noise_"]
        if "mixing_" in state:  # not in files of earlier versions
            self.mixing_ = state["mixing_"]
        self.models_ = [state[f"model{i}"] for i in range(sum(name.startswith("model") for name in state))]

    # -- parts and windows ---------------------------------------------------------------------------------------

    def _mixing(self, pixels: Array) -> Mixing:
        """Return the mixtures of channels that are cleaned."""
        if self.estimator is not None:
            return unmixed(pixels.shape[2], varying_channels(pixels))
        return whitened(pixels, noisy_channels(pixels) if self.noise is None else varying_channels(pixels))

    def _level(self, pixels: Array, unit: float) -> float | None:
        """Return the noise level that the default estimator needs, in units of `pixels`."""
        if self.estimator is not None:
            return None
        level = estimate_noise(pixels) if self.noise is None else self.noise / unit
        self.noise_ = level * unit
        return level

    def _grid(self, pixels: Array) -> WindowGrid:
        return WindowGrid((pixels.shape[0], pixels.shape[1], pixels.shape[2]), self.window, self.stride)

    def _denoise_parts(self, pixels: Array, level: float | None) -> Array:
        cleaned, rng = np.empty_like(pixels), generator(self.random_state)
        parts = [(part, self._grid(pixels[part])) for part in _parts(pixels.shape, self.split)]
        tally = Tally(Channel(self.observers), "windows cleaned", sum(grid.n_windows for _, grid in parts))
        for part, grid in parts:
            cleaned[part] = self._denoise_part(pixels[part], grid, level, rng, tally)
        return cleaned

    def _denoise_part(
        self, pixels: Array, grid: WindowGrid, level: float | None, rng: np.random.RandomState, tally: Tally
    ) -> Array:
        lessons = self._without_mean(grid.cut_some(pixels, self._chosen(grid.n_windows, rng)))[0]
        model = ready(self._default(lessons, level) if level is not None else self.estimator, self.preimage)
        self.models_.append(_fitted(model, lessons, tally.channel.observers))
        sums = OverlapAdd(grid, self.weights)
        for band in grid.bands():
            windows, means = self._without_mean(grid.cut(pixels, band))
            sums.add(model.inverse_transform(model.transform(windows)) + means, band)
            tally.add(len(windows))
        return sums.image()

    def _chosen(self, n: int, rng: np.random.RandomState) -> IntArray:
        if self.max_windows is None or n <= self.max_windows:
            return np.arange(n)
        return np.sort(rng.permutation(n)[: self.max_windows])

    def _without_mean(self, windows: Array) -> tuple[Array, Array | float]:
        if not self.remove_mean:
            return windows, 0.0
        means = _window_means(windows, self.mixing_)
        return windows - means, means

    def _default(self, lessons: Array, level: float) -> KernelPCA:
        total = float(lessons.var(axis=0).sum())  # half the mean squared distance between windows
        gamma = 1.0 / (4.0 * _WIDTH**2 * total) if total > 0 else 1.0
        r = min(signal_dimensions(lessons, level), len(lessons))
        return KernelPCA(r, kernel="rbf", gamma=gamma, preimage="kwok", tol=1e-6, precision="float64")

    def _check(self, shape: tuple[int, ...]) -> None:
        most = () if self.max_windows is None else (("max_windows", 2),)
        for name, least in (("window", 2), ("stride", 1), ("split", 1), *most):
            value = getattr(self, name)
            if not _is_number(value, Integral) or value < least:
                raise ValueError(f"{name} must be a whole number of at least {least}; it is {value!r}.")
        if self.stride > self.window:
            raise ValueError(
                f"stride={self.stride} is larger than window={self.window}: pixels between windows would be lost."
            )
        if self.weights not in WEIGHTS:
            raise ValueError(f"weights must be one of {', '.join(map(repr, WEIGHTS))}; they are {self.weights!r}.")
        if self.noise is not None and not (_is_number(self.noise, Real) and 0 <= self.noise < np.inf):
            raise ValueError(f"noise must be None or a finite number that is not negative; it is {self.noise!r}.")
        smallest = min(size // self.split for size in shape[:2])
        if smallest < self.window:
            parts = f" cut into {self.split} x {self.split} parts" if self.split > 1 else ""
            raise ValueError(
                f"The image of {shape[0]} x {shape[1]} pixels{parts} is smaller than a window of {self.window} x "
                f"{self.window}. Choose a smaller window or fewer parts; channels come last."
            )


def _fitted(model: Any, lessons: Array, observers: tuple[Observer, ...]) -> Any:
    """Fit a model that reports its steps meanwhile, and not later: a display is no part of a model."""
    model.observers = observers
    try:
        return model.fit(lessons)
    finally:
        del model.observers


def _window_means(windows: Array, mixing: Array) -> Array:
    """Return the mean of each window over all channels, or over each mixture alone where channels are mixed."""
    if is_plain(mixing):
        return np.asarray(windows.mean(axis=1, keepdims=True))
    n_mixtures = mixing.shape[1]
    return np.tile(windows.reshape(len(windows), -1, n_mixtures).mean(axis=1), windows.shape[1] // n_mixtures)


def _is_number(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _checked_image(image: npt.ArrayLike) -> Image:
    refuse_masked(image, "The image")
    pixels = np.asarray(image)
    if pixels.ndim not in (2, 3) or 0 in pixels.shape:
        raise ValueError(
            f"An image has the shape (height, width) or (height, width, channels); this array has {pixels.shape}."
        )
    if pixels.dtype.kind not in "iuf":
        raise ValueError(f"An image holds real numbers; this array holds {pixels.dtype}. Convert it to uint8 or float.")
    if not np.isfinite(pixels).all():
        raise ValueError(
            f"The image has {np.count_nonzero(~np.isfinite(pixels))} values that are NaN or infinite. "
            "Fill them first, for example with the median of their neighbours."
        )
    return pixels


def _unit(image: Image, rescale: bool) -> float:
    """Return what the pixels are divided by: the largest value of their type, or 1 for floating-point numbers.

    Few images that are stored in 32 or 64 bits use their range: they count as the smallest unsigned type that suffices.
    `rescale`: floating-point numbers whose squares would overflow or vanish are divided by a power of two.
    """
    largest = max(image.max().item(), -image.min().item())
    if image.dtype.kind != "f":
        return float(np.iinfo(image.dtype if image.itemsize < _WIDE else np.min_scalar_type(largest)).max)
    if not rescale or largest == 0 or 1.0 / _HUGE < largest < _HUGE:
        return 1.0
    return float(2.0 ** (int(np.frexp(largest)[1]) - 1))


def _parts(shape: tuple[int, ...], split: int) -> list[tuple[slice, slice]]:
    """Return the parts of an image, row by row; sizes differ by one pixel at most."""
    rows, columns = (np.linspace(0, size, split + 1).astype(int) for size in shape[:2])
    return [
        (slice(rows[i], rows[i + 1]), slice(columns[j], columns[j + 1])) for i in range(split) for j in range(split)
    ]


def _as_given(pixels: Array, dtype: np.dtype[Any]) -> Image:
    if dtype.kind == "f":
        return pixels.astype(dtype)
    limits = np.iinfo(dtype)
    most = float(limits.max)  # of 64 bits this is one too large: such a number would become the smallest
    return np.clip(np.rint(pixels), limits.min, most if most <= limits.max else np.nextafter(most, 0.0)).astype(dtype)
