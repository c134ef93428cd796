"""Figures show what they should, need no display, and leave pyplot alone."""

import io
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import mercer
from mercer import plots
from mercer.errors import MissingExtraError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 6))
MODEL = SimpleNamespace(
    transform=lambda rows: np.asarray(rows)[:, :3], explained_variance_ratio_=np.array([0.5, 0.2, 0.1])
)


def png(figure) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=40)
    return buffer.getvalue()


@pytest.mark.parametrize("y", [None, np.arange(40) % 3, np.linspace(0, 1, 40)])
def test_scores_draw_every_row(y):
    figure = plots.scores(MODEL, X, y, components=(1, 3))
    axes = figure.axes[0]
    assert sum(len(points.get_offsets()) for points in axes.collections) == 40
    assert axes.get_xlabel() == "component 1"
    assert axes.get_ylabel() == "component 3"
    assert png(figure).startswith(b"\x89PNG")


@pytest.mark.parametrize("values", [["a", "b"], [1, 2]])
@pytest.mark.parametrize("unknown", [None, np.nan])
def test_scores_leave_out_rows_without_a_label(values, unknown):
    figure = plots.scores(MODEL, X, np.array([values[0], unknown, values[1], unknown] * 10, object))
    assert [len(points.get_offsets()) for points in figure.axes[0].collections] == [10, 10]
    assert [text.get_text() for text in figure.axes[0].texts] == [str(value) for value in values]


def test_scores_count_components_from_one():
    points = plots.scores(MODEL, X).axes[0].collections[0].get_offsets()
    np.testing.assert_array_equal(points, X[:, :2])
    points = plots.scores(MODEL, X, components=(3, 1)).axes[0].collections[0].get_offsets()
    np.testing.assert_array_equal(points, X[:, [2, 0]])


@pytest.mark.parametrize("components", [(0, 1), (2, 4), (-1, 1)])
def test_scores_refuse_components_that_do_not_exist(components):
    with pytest.raises(ValueError, match="from 1, the first component, to 3, the last one; got"):
        plots.scores(MODEL, X, components=components)


def test_each_class_has_its_name_written():
    figure = plots.scores(MODEL, X, np.array(["ham", "spam"] * 20))
    assert {text.get_text() for text in figure.axes[0].texts} == {"ham", "spam"}


def test_scores_write_the_names_of_many_classes():
    names = np.array([f"kind {number % 13}" for number in range(40)])
    axes = plots.scores(MODEL, X, names).axes[0]
    assert {text.get_text() for text in axes.texts} == set(names)
    assert len({tuple(part.get_facecolor()[0]) for part in axes.collections}) == 13


def test_the_spectrum_shows_the_shares_and_their_sum():
    figure = plots.spectrum(MODEL)
    np.testing.assert_allclose(figure.axes[0].lines[0].get_ydata(), [0.5, 0.2, 0.1])
    np.testing.assert_array_equal(figure.axes[0].lines[0].get_xdata(), [1, 2, 3])
    assert figure.axes[0].get_title(loc="left") == "3 components hold 80% of the variance"


@pytest.mark.parametrize("shares", [[0.5, 0.2, 0.1], [0.02, 0.01, 0.005], np.full(48, 0.02)])
def test_the_name_of_the_sum_is_inside_of_its_area_or_above(shares):
    axes = plots.spectrum(SimpleNamespace(explained_variance_ratio_=np.array(shares))).axes[0]
    name = next(text for text in axes.texts if text.get_text() == "sum so far")
    figure = axes.figure
    figure.draw_without_rendering()
    low, high = axes.transData.inverted().transform(name.get_window_extent().get_points())[:, 1]
    assert shares[-1] < low < high < np.sum(shares[:-1]) or low > np.sum(shares)


def test_the_spectrum_of_one_component_has_one_name():
    axes = plots.spectrum(SimpleNamespace(explained_variance_ratio_=np.array([0.9]))).axes[0]
    assert [text.get_text() for text in axes.texts] == ["each"]
    assert axes.get_title(loc="left") == "1 component holds 90% of the variance"


def labels_of(axis) -> list[str]:
    """Return the labels that are drawn, of large and small ticks."""
    axis.figure.draw_without_rendering()
    low, high = sorted(axis.get_view_interval())
    return [
        tick.label1.get_text()
        for minor in (False, True)
        for tick in (axis.get_minor_ticks() if minor else axis.get_major_ticks())
        if low <= tick.get_loc() <= high and tick.label1.get_text()
    ]


@pytest.mark.parametrize("values", [[1.55, 0.9, 0.22], [0.5, 0.4, 0.35], [0.5, 0.2, 0.02]])
def test_distances_have_plain_labels_that_do_not_overlap(values):
    axes = plots.distance_curves({"run": values}, [10, 20, 30]).axes[0]
    labels = labels_of(axes.yaxis)
    assert 2 <= len(labels) <= 7
    assert all(0 < float(label) < 2 for label in labels)  # such as 0.5, not 5 x 10^-1
    assert all(float(label).is_integer() for label in labels_of(axes.xaxis))


@pytest.mark.parametrize(
    ("step", "expected", "words"),
    [
        ("1h", ["12:00", "12 Jan"], "from 2024-01-11 10:00:00 to 2024-01-15 03:00:00"),
        ("1s", ["00:04:20"], "from 2024-01-01 00:04:10 to 2024-01-01 00:05:39"),
        ("1D", ["15 Sep"], "from 2024-09-07 00:00:00 to 2024-12-05 00:00:00"),
    ],
)
def test_a_monitor_names_times_in_full(rng, step, expected, words):
    times = pd.date_range("2024-01-01", periods=340, freq=step)
    frame = pd.DataFrame(rng.standard_normal((340, 3)), columns=list("abc"), index=times)
    heat = plots.monitor(mercer.ProcessMonitor(levels=False).fit(frame[:250]), frame[250:]).axes[2]
    assert set(expected) <= set(labels_of(heat.xaxis))
    assert heat.get_xlabel() == f"time, {words}"


def test_a_grid_draws_each_picture_in_the_shades_of_the_first_row():
    figure = plots.image_grid({"clean": X[:5], "noisy": 9 * X[:4]}, (2, 3))
    images = [image for axes in figure.axes for image in axes.images]
    assert len(images) == 9
    assert {image.get_clim() for image in images} == {(X[:5].min(), X[:5].max())}
    np.testing.assert_array_equal(images[0].get_array(), X[0].reshape(2, 3))


def test_denoising_puts_all_into_one_figure():
    rows = {"clean": X[:5], "noisy": X[5:10]}
    figure = plots.denoising(rows, (2, 3), MODEL, X, np.arange(40) % 4, title="before and after")
    assert len(png(figure)) > 1000
    assert figure.get_suptitle() == "before and after"


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'mercer\[cli\]'"):
        plots.spectrum(MODEL)


def test_importing_is_cheap_and_drawing_leaves_pyplot_alone(tmp_path):
    code = """
import sys, types, numpy as np, mercer.plots
assert "matplotlib" not in sys.modules
mercer.plots.spectrum(types.SimpleNamespace(explained_variance_ratio_=np.ones(2) / 2)).savefig(sys.argv[1])
assert "matplotlib.pyplot" not in sys.modules
"""
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path / "x.png")], check=False).returncode == 0


def test_a_monitor_is_drawn_with_limits_bands_and_contributions(rng):
    rows = rng.standard_normal((340, 4))
    rows[300:320, 2] += 30.0
    frame = pd.DataFrame(rows, columns=list("abcd"), index=pd.date_range("2024-01-01", periods=340, freq="1h"))
    process = mercer.ProcessMonitor().fit(frame[:250])
    figure = plots.monitor(process, frame[250:])
    t2, spe, slow, heat = figure.axes[:4]
    verdicts = process.verdicts(frame[250:])
    assert_allclose(slow.lines[0].get_ydata(), process.slow_means(frame[250:]))
    assert [axes.get_ylabel() for axes in figure.axes[:3]] == ["T2 / limit", "SPE / limit", "slow means / limit"]
    without = mercer.ProcessMonitor(levels=False).fit(frame[:250])
    assert len(plots.monitor(without, frame[250:]).axes) == len(figure.axes) - 1
    assert len(t2.patches) == len(spe.patches) == len(verdicts.episodes()) > 0
    assert_allclose(t2.lines[0].get_ydata(), verdicts.t2 / process.limits()[0])
    assert t2.lines[1].get_ydata()[0] == 1.0
    drawn = np.asarray(heat.collections[0].get_array())
    assert drawn.shape == (4, 90)
    assert (drawn[:, 55:68].argmax(axis=0) == 2).all()
    assert [label.get_text() for label in heat.get_yticklabels()] == list("abcd")
    assert process.judge(frame[250:251]).time[0] == frame.index[250]  # the stream was not begun
    frame.iloc[270:280, 1] = np.nan
    bands = [band.get_facecolor()[:3] for band in plots.monitor(process, frame[250:]).axes[0].patches]
    assert len(set(bands)) == 2  # of alarms, and of those that only sensors raise
    assert process.verdicts(frame[250:]).sensor_episodes() == [(frame.index[274], frame.index[279])]


def test_contours_of_one_model_and_of_few_components():
    rows = X[:, :2]
    figure = plots.score_contours(mercer.KernelPCA(2, kernel="rbf").fit(rows), rows)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["component 1", "component 2"]
    models = {"a": mercer.KernelPCA(3, kernel="rbf").fit(rows), "b": mercer.KernelPCA(1).fit(rows)}
    assert [axes.get_title(loc="left") for axes in plots.score_contours(models, rows).axes] == [
        "a, component 1",
        "b, component 1",
    ]
    with pytest.raises(ValueError, match="no component to draw"):
        plots.score_contours(models, rows, 0)


def test_models_of_another_kind_are_told():
    with pytest.raises(TypeError, match="explained_variance_ratio_; KernelSpectralClustering has none"):
        plots.spectrum(mercer.KernelSpectralClustering(2, random_state=0).fit(X))
    with pytest.raises(TypeError, match="needs a fitted IncrementalKernelPCA; got KernelPCA"):
        plots.stream_history(mercer.KernelPCA(2).fit(X))
    stream = mercer.HebbianKernelPCA(2, random_state=0).partial_fit(X)
    with pytest.raises(ValueError, match=r"it has none\. Only `fit` makes passes"):
        plots.convergence(stream)
    landmarks = mercer.HebbianKernelPCA(2, landmarks=20, random_state=0).fit(X)
    with pytest.raises(ValueError, match=r"residual, seconds. Pass one of these as `quantity`.*without landmarks"):
        plots.convergence(landmarks)
