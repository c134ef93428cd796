"""Denoising images and rows: windows against loops, types and shapes, real pictures, and what is refused."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from typer.testing import CliRunner

import mercer
from mercer import HebbianKernelPCA, KernelPCA, LandmarkKernelPCA, PatchDenoiser, RobustKernelPCA, plots
from mercer.cli.root import app
from mercer.errors import DataFileError
from mercer.images import windows as windows_module
from mercer.images.channels import whitened
from mercer.images.noise import estimate_noise, signal_dimensions
from mercer.images.windows import OverlapAdd, WindowGrid, window_weights
from mercer.io.pictures import read_picture, write_picture
from mercer.metrics import snr
from textbook import tasks as naive_tasks

LINEAR = KernelPCA(4, kernel="linear", preimage="exact")


def waves(height: int = 60, width: int = 53) -> np.ndarray:
    return 0.5 + 0.2 * np.add.outer(np.sin(np.arange(height) / 5), np.cos(np.arange(width) / 4))


@pytest.fixture
def noisy(rng) -> np.ndarray:
    return waves() + 0.1 * rng.standard_normal(waves().shape)


def mean_square(a: np.ndarray, b: np.ndarray) -> float:
    return float(((np.asarray(a, float) - b) ** 2).mean())


# -- windows ------------------------------------------------------------------------------------------------------


@given(
    shape=st.tuples(st.integers(3, 17), st.integers(3, 17), st.integers(1, 4)),
    window=st.integers(1, 7),
    stride=st.integers(1, 7),
    weights=st.sampled_from(["uniform", "hann"]),
    tile=st.sampled_from([1, 2**25]),
)
def test_windows_and_their_sum_are_those_of_loops(shape, window, stride, weights, tile):
    window = min(window, *shape[:2])
    stride = min(stride, window)
    image = np.random.default_rng(1).standard_normal(shape)
    grid = WindowGrid(shape, window, stride)
    expected = naive_tasks.cut_windows(image, window, stride)
    assert np.array_equal(grid.cut(image), expected)
    some = np.arange(grid.n_windows)[::-2]
    assert np.array_equal(grid.cut_some(image, some), expected[some])
    other = np.random.default_rng(2).standard_normal(expected.shape)
    sums = OverlapAdd(grid, weights)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(windows_module, "TILE_BYTES", tile)  # one row of windows in a band, or all of them
        for band in grid.bands():
            rows = slice(band.start * len(grid.lefts), band.stop * len(grid.lefts))
            sums.add(other[rows], band)
    by_loops = naive_tasks.overlap_add(other, shape, window, stride, window_weights(window, weights))
    assert_allclose(sums.image(), by_loops, atol=1e-13)


@given(st.integers(2, 11), st.integers(1, 11), st.integers(11, 30), st.integers(11, 30))
def test_windows_add_up_to_the_image_they_were_cut_from(window, stride, height, width):
    image = np.random.default_rng(0).standard_normal((height, width, 2))
    grid = WindowGrid(image.shape, window, min(stride, window))
    for weights in ("uniform", "hann"):
        sums = OverlapAdd(grid, weights)
        sums.add(grid.cut(image))
        assert_allclose(sums.image(), image, atol=1e-12)


# -- noise --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0.02, 0.1, 1.0])
def test_the_level_of_noise_is_found(rng, level):
    image = waves(200, 200) + level * rng.standard_normal((200, 200))
    assert estimate_noise(image) == pytest.approx(level, rel=0.05)
    assert estimate_noise(np.ones((9, 9))) == 0.0


def test_directions_that_stand_out_are_counted(rng):
    noise = rng.standard_normal((2000, 40))
    signal = rng.standard_normal((2000, 3)) @ np.linalg.qr(rng.standard_normal((40, 3)))[0].T
    assert signal_dimensions(noise + 3 * signal, 1.0) == 3
    assert signal_dimensions(0.9 * noise, 1.0) == 1
    assert signal_dimensions(noise[:1], 1.0) == 1
    assert signal_dimensions(noise, 1e300) == 1


# -- the denoiser -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("window", "stride"), [(5, 1), (7, 3), (8, 8)])
def test_with_a_linear_kernel_it_is_pca_of_windows(noisy, window, stride):
    task = PatchDenoiser(window, stride, estimator=LINEAR, remove_mean=False, max_windows=None)
    assert_allclose(task.denoise(noisy), naive_tasks.patch_pca(noisy, window, stride, 4), atol=1e-10)


def test_four_parts_are_four_images(noisy):
    whole = PatchDenoiser(7, 3, estimator=LINEAR, split=2)
    alone = PatchDenoiser(7, 3, estimator=LINEAR)
    found = whole.denoise(noisy)
    assert len(whole.models_) == 4
    for part in (np.s_[:30, :26], np.s_[:30, 26:], np.s_[30:, :26], np.s_[30:, 26:]):
        assert_allclose(found[part], alone.denoise(noisy[part]), atol=1e-12)


def test_all_components_leave_the_image_as_it_is(noisy):
    task = PatchDenoiser(4, 2, estimator=KernelPCA(16, kernel="linear", preimage="exact"), remove_mean=False)
    assert_allclose(task.denoise(noisy), noisy, atol=1e-10)


def test_the_default_removes_most_of_the_noise(noisy):
    task = PatchDenoiser()
    found = task.denoise(noisy)
    assert mean_square(found, waves()) < 0.2 * mean_square(noisy, waves())
    assert task.noise_ == pytest.approx(0.1, rel=0.15)
    assert np.array_equal(found, PatchDenoiser().denoise(noisy))


def test_brightness_and_unit_do_not_matter(noisy):
    found = PatchDenoiser(7, 3).denoise(noisy)
    assert_allclose(PatchDenoiser(7, 3).denoise(1000 * noisy + 5), 1000 * found + 5, rtol=1e-4)


@pytest.mark.parametrize("unit", [2.0**-1000, 2.0**-600, 2.0**600, 2.0**1000])
def test_squares_of_pixels_may_be_beyond_the_range_of_numbers(noisy, unit):
    assert_allclose(PatchDenoiser(7, 3).denoise(noisy * unit) / unit, PatchDenoiser(7, 3).denoise(noisy), rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int16, np.float32, np.float64])
@pytest.mark.parametrize("channels", [(), (1,), (3,)])
def test_what_comes_out_is_of_the_kind_that_came_in(rng, dtype, channels):
    clean = np.clip(waves().reshape(60, 53, *[1] * len(channels)) * np.ones(channels), 0, 1)
    unit = np.iinfo(dtype).max if np.dtype(dtype).kind in "iu" else 1
    noisy = (np.clip(clean + 0.1 * rng.standard_normal(clean.shape), 0, 1) * unit).astype(dtype)
    kept = noisy.copy()
    found = PatchDenoiser(7, 3).denoise(noisy)
    assert found.dtype == dtype
    assert found.shape == noisy.shape
    assert np.array_equal(noisy, kept)
    assert mean_square(found / unit, clean) < 0.3 * mean_square(noisy / unit, clean)


class Brighter(BaseEstimator):
    """Adds a constant to every window."""

    def __init__(self, by: float = 0.0):
        self.by = by

    def fit(self, X):
        return self

    def transform(self, X):
        return X

    def inverse_transform(self, X):
        return X + self.by


@pytest.mark.parametrize("by", [0.4, -0.4])  # 102 grey values
def test_values_beyond_the_type_are_clipped_not_wrapped(by):
    image = np.linspace(0, 255, 900).reshape(30, 30).astype(np.uint8)
    found = PatchDenoiser(6, 1, estimator=Brighter(by)).denoise(image)
    assert np.array_equal(found, np.clip(np.rint(image + 255 * by), 0, 255))
    assert_allclose(PatchDenoiser(6, 1, estimator=Brighter(by)).denoise(image / 255), image / 255 + by)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_the_brightest_pixels_of_64_bits_do_not_become_the_darkest(rng, dtype):
    most = np.iinfo(dtype).max
    image = rng.integers(most - 1000, most, (20, 20), dtype=dtype, endpoint=True)
    assert PatchDenoiser(6, 1, estimator=Brighter(0.1)).denoise(image).min() > most - 10_000


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint64])
def test_grey_values_in_wide_integers_count_as_bytes(noisy, dtype):
    image = np.clip(200 * noisy, 0, 255).astype(np.uint8)
    model = PatchDenoiser(6, 3, estimator=KernelPCA(4, kernel="rbf", gamma=0.1, preimage="mika"))
    assert_array_equal(model.denoise(image.astype(dtype)), model.denoise(image))


def test_nothing_to_remove_nothing_changed(noisy):
    for image in (np.full((20, 31), 7, np.uint8), np.zeros((12, 12, 3)), np.tile(np.arange(40.0), (40, 1))):
        task = PatchDenoiser()
        found = task.denoise(image)
        assert np.array_equal(found, image)
        assert found is not image
        assert task.noise_ == 0.0
    assert np.array_equal(PatchDenoiser(noise=0.0).denoise(noisy), noisy)


def test_a_constant_image_with_noise_declared_stays_constant():
    assert_allclose(PatchDenoiser(noise=0.1).denoise(np.full((25, 25), 0.4)), 0.4, atol=1e-12)


ESTIMATORS = [
    HebbianKernelPCA(4, gain="et", max_iter=5, tol=0, random_state=0),
    LandmarkKernelPCA(4, landmarks=50, random_state=0),
    RobustKernelPCA(4, random_state=0),
    PCA(4),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_any_estimator_will_do(noisy, estimator):
    before = estimator.get_params()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = PatchDenoiser(7, 3, estimator=estimator, max_windows=150).denoise(noisy)
    assert mean_square(found, waves()) < 0.5 * mean_square(noisy, waves())
    assert estimator.get_params() == before
    assert not hasattr(estimator, "n_features_in_")


@pytest.mark.parametrize("preimage", ["mika", "kwok", "ridge", "gradient"])
def test_any_way_back_will_do(noisy, preimage):
    estimator = KernelPCA(6, kernel="rbf", gamma=0.05, alpha=1e-3)
    task = PatchDenoiser(7, 4, estimator=estimator, preimage=preimage)
    assert mean_square(task.denoise(noisy), waves()) < 0.5 * mean_square(noisy, waves())
    assert task.models_[0].preimage == preimage


@pytest.mark.parametrize(
    ("params", "image", "text"),
    [
        ({}, np.zeros(50), "shape"),
        ({}, np.zeros((4, 30, 30, 3)), "shape"),
        ({}, np.zeros((0, 30)), "shape"),
        ({}, np.zeros((8, 30)), "smaller than a window of 9 x 9"),
        ({"split": 4}, np.zeros((30, 40)), "4 x 4 parts is smaller"),
        ({}, np.full((20, 20), np.nan), "400 values that are NaN"),
        ({}, np.full((20, 20), np.inf), "infinite"),
        ({}, np.zeros((20, 20), bool), "real numbers"),
        ({}, np.zeros((20, 20), complex), "real numbers"),
        ({}, np.full((20, 20), "a"), "real numbers"),
        ({"window": 1}, np.zeros((20, 20)), "window must be a whole number of at least 2"),
        ({"window": 7.5}, np.zeros((20, 20)), "window"),
        ({"stride": 0}, np.zeros((20, 20)), "stride"),
        ({"stride": 10}, np.zeros((20, 20)), "pixels between windows would be lost"),
        ({"split": True}, np.zeros((20, 20)), "split"),
        ({"max_windows": 1}, np.zeros((20, 20)), "max_windows"),
        ({"weights": "gauss"}, np.zeros((20, 20)), "'uniform', 'hann'"),
        ({"noise": -1}, np.zeros((20, 20)), "noise"),
        ({"noise": np.nan}, np.zeros((20, 20)), "noise"),
        ({"estimator": PCA(2), "preimage": "mika"}, np.eye(20), "no choice of pre-images"),
        ({"estimator": KernelPCA(2, kernel="precomputed")}, np.eye(20), "no way back"),
    ],
)
def test_bad_input_is_refused_with_advice(params, image, text):
    with pytest.raises(ValueError, match=text):
        PatchDenoiser(**params).denoise(image)


def test_masked_pixels_are_refused(noisy):
    with pytest.raises(ValueError, match="1 masked values"):
        PatchDenoiser(7, 3).denoise(np.ma.masked_equal(noisy, noisy.max()))
    unmasked = PatchDenoiser(7, 3).denoise(np.ma.masked_greater(noisy, np.inf))
    assert_array_equal(unmasked, PatchDenoiser(7, 3).denoise(noisy))


def test_an_estimator_that_cannot_go_back_is_refused():
    for wrong in (KernelPCA, "PCA", object()):
        with pytest.raises(TypeError, match="inverse_transform"):
            PatchDenoiser(estimator=wrong).denoise(np.eye(20))


def test_the_camera_image(data_set):
    """A quarter of the picture: more than 8 dB better than the noisy one, and better than PCA of the same windows."""
    clean = data_set("camera_512")["X"][:256, :256] / 255.0
    noisy = clean + 0.1 * np.random.default_rng(0).standard_normal(clean.shape)
    found = snr(clean, PatchDenoiser(stride=3, max_windows=1500).denoise(noisy))
    linear = snr(clean, PatchDenoiser(stride=3, estimator=PCA(20), remove_mean=False).denoise(noisy))
    assert found > snr(clean, noisy) + 8.0
    assert found > linear


def test_a_call_that_fails_leaves_the_models_of_the_last_one():
    noisy = waves() + 0.2 * np.random.default_rng(0).standard_normal(waves().shape)
    task = PatchDenoiser(7, 3)
    task.denoise(noisy)
    models, noise, mixing = task.models_, task.noise_, task.mixing_
    with pytest.raises(ValueError, match="Negative values"):
        task.set_params(estimator=KernelPCA(3, kernel="chi2")).denoise(np.dstack([noisy, noisy]))
    assert task.models_ is models
    assert task.noise_ == noise
    assert task.mixing_ is mixing


# -- rows ---------------------------------------------------------------------------------------------------------


def test_rows_are_fitted_projected_and_brought_back(rng):
    X = rng.standard_normal((40, 5))
    model = KernelPCA(3, kernel="rbf", gamma=0.1, preimage="mika").fit(X)
    expected = model.inverse_transform(model.transform(X))
    assert_allclose(mercer.denoise(X, KernelPCA(3, kernel="rbf", gamma=0.1, preimage="mika")), expected, atol=1e-12)
    # ridge regression that nobody asked to be fitted gives way; asked for by name it is fitted
    assert_allclose(mercer.denoise(X, KernelPCA(3, kernel="rbf", gamma=0.1)), expected, atol=1e-12)
    ridge = KernelPCA(3, kernel="rbf", gamma=0.1, fit_inverse_transform=True).fit(X)
    found = mercer.denoise(X, KernelPCA(3, kernel="rbf", gamma=0.1), preimage="ridge")
    assert_allclose(found, ridge.inverse_transform(ridge.transform(X)), atol=1e-10)


def test_rows_without_an_estimator_and_in_single_precision(rng):
    angle = np.linspace(0, 6, 200)
    circle = np.column_stack([f(k * angle) for k in (1, 2, 3) for f in (np.cos, np.sin)])
    noisy = circle + 0.2 * rng.standard_normal(circle.shape)
    assert mean_square(mercer.denoise(noisy), circle) < 0.8 * mean_square(noisy, circle)
    assert mercer.denoise(noisy.astype(np.float32)).dtype == np.float32
    assert mercer.denoise(noisy[:3].tolist()).shape == (3, 6)
    assert_allclose(mercer.denoise(noisy[:1]), noisy[:1], atol=1e-6)


def test_rows_without_an_estimator_may_have_any_unit(rng):
    """With a width of one unit per column, the digits' error became four times that of the noise."""
    clean = load_digits().data  # from 0 to 16
    noisy = clean + 3.0 * rng.standard_normal(clean.shape)
    found = mercer.denoise(noisy)
    assert mean_square(found, clean) < 0.6 * mean_square(noisy, clean)
    assert_allclose(1000 * mercer.denoise(noisy[:200] / 1000), mercer.denoise(noisy[:200]), atol=1e-6)
    assert_array_equal(mercer.denoise(pd.DataFrame(noisy[:200])), mercer.denoise(noisy[:200]))


@pytest.mark.parametrize("X", [np.zeros((0, 3)), np.full((5, 3), np.nan), np.zeros(5)])
def test_bad_rows_are_refused(X):
    with pytest.raises(ValueError, match=r"sample|NaN|2D"):
        mercer.denoise(X)


def test_a_walk_loses_most_of_its_noise(data_set):
    walk = data_set("mocap_cmu35_01_walk")["X"].astype(float).reshape(358, 31, 3)
    clean = (walk - walk[:, :1]).reshape(358, -1)
    noisy = clean + 0.5 * np.random.default_rng(0).standard_normal(clean.shape)
    found = mercer.denoise(noisy, KernelPCA(25, kernel="rbf"))
    assert mean_square(found, clean) < 0.15 * mean_square(noisy, clean)


# -- figures ------------------------------------------------------------------------------------------------------


def test_stick_figures_draw_every_bone(rng):
    frames = rng.standard_normal((4, 9))
    figure = plots.stick_figures({"a": frames, "b": frames[:2]}, [-1, 0, 0], behind=frames)
    assert len(figure.axes) == 8
    assert [len(axes.lines) for axes in figure.axes] == [4, 4, 4, 4, 4, 4, 0, 0]
    seen = plots.stick_figures({"a": frames}, [-1, 0, 0], azimuth=0).axes[0].lines[0].get_xydata()
    assert_allclose(seen, frames[0].reshape(3, 3)[[1, 0], :2])
    side = plots.stick_figures({"a": frames}, [-1, 0, 0], azimuth=90).axes[0].lines[0].get_xydata()
    assert_allclose(side, frames[0].reshape(3, 3)[[1, 0]][:, [2, 1]])


@pytest.mark.parametrize(
    ("rows", "parents", "text"),
    [
        ({"a": np.zeros((2, 8))}, [-1, 0, 0], "9 columns"),
        ({"a": np.zeros(9)}, [-1, 0, 0], "single frame"),
        ({"a": np.zeros((2, 9))}, [-1, 0, 3], "parents"),
        ({"a": np.zeros((2, 9))}, [-1.0, 0, 0], "parents"),
        ({}, [-1, 0, 0], "nothing to draw"),
    ],
)
def test_bad_motions_are_refused(rows, parents, text):
    with pytest.raises(ValueError, match=text):
        plots.stick_figures(rows, parents)


# -- files --------------------------------------------------------------------------------------------------------


def run(*args, code=0):
    result = CliRunner().invoke(app, [str(arg) for arg in args])
    assert result.exit_code == code, result.output + repr(result.exception)
    return result.stderr


def picture(rng, channels: tuple[int, ...]) -> np.ndarray:
    clean = waves().reshape(60, 53, *[1] * len(channels)) * np.ones(channels)
    return (np.clip(clean + 0.1 * rng.standard_normal(clean.shape), 0, 1) * 255).astype(np.uint8)


@pytest.mark.parametrize("channels", [(), (3,), (4,), (2,)])
def test_the_command_cleans_an_image_and_keeps_transparency(tmp_path, rng, channels):
    noisy = picture(rng, channels)
    write_picture(tmp_path / "in.png", noisy)
    told = run("denoise", tmp_path / "in.png", "-o", tmp_path / "out.png", "--window", 7, "--stride", 3)
    assert "components" in told
    found = read_picture(tmp_path / "out.png")
    colours = np.s_[:, :, :-1] if channels in ((4,), (2,)) else np.s_[:]
    assert np.array_equal(found[colours], PatchDenoiser(7, 3).denoise(noisy[colours]))
    if channels in ((4,), (2,)):
        assert np.array_equal(found[:, :, -1], noisy[:, :, -1])


def test_sixteen_bits_and_palettes_are_read(tmp_path, rng):
    deep = rng.integers(0, 65535, (12, 13)).astype(np.uint16)
    write_picture(tmp_path / "deep.png", deep)
    assert np.array_equal(read_picture(tmp_path / "deep.png"), deep)
    image = pytest.importorskip("PIL.Image")
    image.fromarray(picture(rng, (3,))).convert("P").save(tmp_path / "few.png")
    assert read_picture(tmp_path / "few.png").shape == (60, 53, 3)


def test_the_command_says_what_is_wrong(tmp_path, rng):
    write_picture(tmp_path / "in.png", picture(rng, ()))
    (tmp_path / "bad.png").write_text("no image")
    out = tmp_path / "out.png"
    assert "-o clean.png" in run("denoise", tmp_path / "in.png", code=2)
    assert "model and data" in run("denoise", tmp_path / "in.csv", "-o", out, code=2)
    assert "smaller than a window" in run("denoise", tmp_path / "in.png", "-o", out, "--window", 54, code=2)
    assert "as an image" in run("denoise", tmp_path / "bad.png", "-o", out, code=2)
    assert "does not exist" in run("denoise", tmp_path / "none.png", "-o", out, code=2)
    assert not out.exists()
    with pytest.raises(DataFileError, match="Choose a name"):
        write_picture(tmp_path / "x.unknown", picture(rng, ()))


def test_models_of_all_parts_are_saved(tmp_path):
    noisy = np.random.default_rng(0).uniform(size=(30, 24))
    task = PatchDenoiser(5, 3, split=2)
    with pytest.raises(NotFittedError, match=r"call denoise\(image\) first"):
        task.save(tmp_path / "task")
    found = task.denoise(noisy)
    task.save(tmp_path / "task")
    again = mercer.load(tmp_path / "task")
    assert again.noise_ == task.noise_
    windows = noisy[:5, :5].reshape(1, -1)
    assert len(again.models_) == 4
    for mine, theirs in zip(again.models_, task.models_, strict=True):
        assert np.array_equal(mine.transform(windows), theirs.transform(windows))
    assert np.array_equal(again.denoise(noisy), found)


# -- channels -----------------------------------------------------------------------------------------------------


def in_colour(levels: float | list[float], correlation: float = 0.0, seed: int = 0) -> np.ndarray:
    """Return three channels of the same picture with noise of these levels and correlations."""
    mix = np.linalg.cholesky(np.full((3, 3), correlation) + (1 - correlation) * np.eye(3))
    noise = np.random.default_rng(seed).standard_normal((96, 90, 3)) @ mix.T
    return waves(96, 90)[:, :, None] + np.asarray(levels) * noise


def remaining(image: np.ndarray, **params) -> float:
    """Return the mean squared error of the first three channels after denoising."""
    return mean_square(PatchDenoiser(7, 3, **params).denoise(image)[..., :3], waves(96, 90)[:, :, None])


def one_channel(image: np.ndarray) -> float:
    """Return the mean, over channels, of the error that each has when it is denoised alone."""
    return float(np.mean([remaining(image[:, :, [k]]) for k in range(image.shape[2])]))


@pytest.mark.parametrize("noise", [None, 0.1])
@pytest.mark.parametrize("dtype", [np.uint8, np.float64])
def test_a_grey_picture_in_three_equal_channels_is_cleaned_like_one_channel(noise, dtype):
    unit = 255 if dtype == np.uint8 else 1
    grey = (np.clip(in_colour(0.1)[:, :, 0], 0, 1) * unit).astype(dtype)
    level = None if noise is None else noise * unit
    alone = PatchDenoiser(7, 3, noise=level)
    expected = alone.denoise(grey)
    task = PatchDenoiser(7, 3, noise=level)
    found = task.denoise(np.dstack([grey, grey, grey]))
    for k in range(3):
        assert_allclose(found[:, :, k], expected, atol=1e-9 if dtype == np.float64 else 1)
    assert task.noise_ == pytest.approx(alone.noise_)
    assert task.models_[0].n_components == alone.models_[0].n_components


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(
    ("levels", "correlation"), [(0.1, 0.5), (0.1, 0.98), ([0.025, 0.1, 0.2], 0.0), ([0.05, 0.1, 0.1], 0.7)]
)
def test_noise_that_differs_between_channels_is_removed(levels, correlation, seed):
    image = in_colour(levels, correlation, seed)
    assert remaining(image) < 1.5 * one_channel(image)
    assert remaining(image, noise=float(np.sqrt(np.mean(np.square(levels))))) < 1.5 * one_channel(image)


@pytest.mark.parametrize("noise", [None, 25.0])
@pytest.mark.parametrize("constant", [255, 0])
def test_a_constant_channel_stays_and_does_not_matter(noise, constant):
    image = (np.clip(in_colour(0.1), 0, 1) * 255).astype(np.uint8)
    found = PatchDenoiser(7, 3, noise=noise).denoise(np.dstack([image, np.full((96, 90), constant, np.uint8)]))
    assert np.all(found[:, :, 3] == constant)
    assert np.array_equal(found[:, :, :3], PatchDenoiser(7, 3, noise=noise).denoise(image))


def test_a_constant_channel_stays_with_any_estimator():
    image = np.dstack([in_colour(0.1), np.full((96, 90), 0.3)])
    found = PatchDenoiser(7, 3, estimator=LINEAR).denoise(image)
    assert np.all(found[:, :, 3] == 0.3)
    assert_allclose(found[:, :, :3], PatchDenoiser(7, 3, estimator=LINEAR).denoise(image[:, :, :3]), atol=1e-12)


def test_a_mask_without_noise_stays():
    mask = np.where(np.add.outer(np.arange(96), np.arange(90)) % 60 < 30, 0, 255).astype(np.uint8)
    image = (np.clip(in_colour(0.1), 0, 1) * 255).astype(np.uint8)
    assert np.array_equal(PatchDenoiser(7, 3).denoise(np.dstack([image, mask]))[:, :, 3], mask)


def test_colours_without_noise_stay_where_the_noise_is_grey():
    colours = np.dstack([waves(96, 90), 1 - waves(96, 90), np.full((96, 90), 0.5)])
    noise = 0.1 * np.random.default_rng(0).standard_normal((96, 90, 1))
    noisy = colours + noise
    found = PatchDenoiser(7, 3).denoise(noisy)
    assert mean_square(found, colours) < 0.2 * mean_square(noisy, colours)
    assert_allclose(found[:, :, 0] - found[:, :, 1], noisy[:, :, 0] - noisy[:, :, 1], atol=1e-9)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_channels_with_equal_independent_noise_are_not_mixed(seed):
    task = PatchDenoiser(7, 3)
    task.denoise(in_colour(0.1, seed=seed))
    assert np.array_equal(task.mixing_, np.eye(3))


def test_noise_of_mixtures_is_white_and_the_way_back_is_exact():
    image = in_colour([0.02, 0.1, 0.2], 0.5)
    mixing = whitened(image, np.arange(3))
    noise = mixing.mixtures(image - waves(96, 90)[:, :, None]).reshape(-1, 3)
    assert_allclose(np.cov(noise, rowvar=False), np.mean([0.02**2, 0.1**2, 0.2**2]) * np.eye(3), atol=0.0035)
    assert_allclose(mixing.forward @ mixing.back, np.eye(3), atol=1e-10)


def test_a_part_of_the_image_without_noise_does_not_hide_equal_channels():
    grey = in_colour(0.1)[:, :, 0]
    grey[:60] = 0.5
    expected = PatchDenoiser(7, 3, noise=0.1).denoise(grey)
    assert_allclose(PatchDenoiser(7, 3, noise=0.1).denoise(np.dstack([grey] * 3))[:, :, 0], expected, atol=1e-9)


def test_the_command_cleans_a_grey_picture_that_is_stored_in_colour(tmp_path):
    grey = (np.clip(in_colour(0.1)[:, :, 0], 0, 1) * 255).astype(np.uint8)
    opaque = np.full_like(grey, 255)
    expected = PatchDenoiser().denoise(grey).astype(int)
    for image in (np.dstack([grey] * 3), np.dstack([grey, grey, grey, opaque])):
        write_picture(tmp_path / "in.png", image)
        run("denoise", tmp_path / "in.png", "-o", tmp_path / "out.png")
        found = read_picture(tmp_path / "out.png")
        assert found.shape == image.shape
        assert np.abs(found[:, :, 0] - expected).max() <= 1


def test_a_saved_denoiser_knows_how_channels_were_mixed(tmp_path):
    image = in_colour(0.1, 0.5)
    task = PatchDenoiser(7, 3)
    found = task.denoise(image)
    task.save(tmp_path / "task")
    again = mercer.load(tmp_path / "task")
    assert np.array_equal(again.mixing_, task.mixing_)
    windows = (image[:7, :7] @ again.mixing_).reshape(1, -1)
    assert np.array_equal(again.models_[0].transform(windows), task.models_[0].transform(windows))
    assert np.array_equal(again.denoise(image), found)
