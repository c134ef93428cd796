"""The figure of a selection: a line per number of components, dashed lines for other kernels, and the choice."""

import io

import numpy as np
import pytest

import mercer
from mercer import plots
from selection_data import curve, low_rank


def labels(figure) -> list[str]:
    return [text.get_text() for text in figure.axes[0].get_legend().get_texts()]


def ring(figure):
    """The place of the ring, or None."""
    found = [line for line in figure.axes[0].lines if line.get_marker() == "o"]
    assert len(found) <= 1
    return (found[0].get_xdata()[0], found[0].get_ydata()[0]) if found else None


@pytest.mark.parametrize("purpose", ["reconstruction", "denoising", "features", "outliers"])
def test_every_purpose_has_a_figure(purpose):
    found = mercer.select(curve(60), purpose, random_state=0)
    figure, chosen = found.plot(), found.table[found.table["chosen"]].iloc[0]
    axes = figure.axes[0]
    assert axes.get_title(loc="left").startswith(f"Settings for {purpose}: {chosen['kernel']}, gamma =")
    assert axes.get_ylabel() == f"score: {found.measured}"
    few, all_widths = ["1/4", "1", "4"], ["1/64", "1/16", "1/4", "1", "4", "16", "64"]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == (few if purpose == "features" else all_widths)
    marked = ring(figure)
    if chosen["kernel"] == "rbf":
        assert marked == (chosen["width"], chosen["score"])
    else:
        assert f"{chosen['n_components']}, {chosen['kernel']} (chosen)" in labels(figure)
    low, high = axes.get_ylim()
    assert low <= max(chosen["score"], 0) <= high
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=40)
    assert buffer.getvalue().startswith(b"\x89PNG")


def test_lines_hold_the_scores_of_the_table():
    found = mercer.select(curve(80), random_state=0, candidates={"width": [0.5, 2.0, 8.0], "n_components": [2, 8]})
    figure = found.plot()
    drawn = {c.get_label(): c.lines[0].get_ydata() for c in figure.axes[0].containers}
    for count in (2, 8):
        own = found.table[(found.table["n_components"] == count) & (found.table["kernel"] == "rbf")]
        np.testing.assert_allclose(drawn[str(count)].astype(float), own.sort_values("width")["score"])


def test_a_linear_choice_is_told_in_the_legend():
    figure = mercer.select(low_rank(rank=4, d=20), random_state=0).plot()
    assert "4, linear (chosen)" in labels(figure)
    assert ring(figure) is None


def test_for_features_the_line_is_that_of_the_chosen_number_of_components():
    found = mercer.select(low_rank(rank=4, d=20), "features", random_state=0)
    chosen = found.table[found.table["chosen"]].iloc[0]
    if chosen["kernel"] == "linear":
        assert f"{chosen['n_components']}, linear (chosen)" in labels(found.plot())
    else:
        assert ring(found.plot()) == (chosen["width"], chosen["score"])


def test_without_gaussian_kernels_scores_are_drawn_over_the_number_of_components():
    found = mercer.select(low_rank(), random_state=0, candidates={"kernel": ["linear"]})
    figure = found.plot()
    assert figure.axes[0].get_xlabel() == "components"
    assert labels(figure) == ["linear"]
    assert ring(figure)[0] == found.estimator.n_components


def test_given_gammas_are_the_axis():
    figure = mercer.select(curve(60), random_state=0, candidates={"gamma": [0.1, 1.0], "n_components": [4]}).plot()
    assert figure.axes[0].get_xlabel() == "gamma"


def test_it_draws_into_a_given_figure_and_is_public():
    found = mercer.select(curve(60), random_state=0, candidates={"n_components": [4]})
    figure = found.plot()
    assert plots.selection(found, figure=figure) is figure
    assert len(figure.axes) == 2
