"""An object followed through frames: patches against a textbook twin, scenes made up and real, and bad input."""

import csv
import pickle
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import ndimage
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from threadpoolctl import threadpool_limits
from typer.testing import CliRunner

import mercer
from mercer import AppearanceTracker, IncrementalKernelPCA, KernelPCA, LandmarkKernelPCA, plots
from mercer.cli.root import app
from mercer.errors import NotSaveableError
from mercer.images.appearance import central_weights, default_model, strangeness, unit_contrast
from mercer.images.confidence import residual_p_value
from mercer.images.motion import Field, MotionPrior
from mercer.images.search import near_rounds
from mercer.images.tracked_box import TrackedBox
from mercer.images.warp import corners, sample_boxes
from textbook import tracking as naive

# -- patches -------------------------------------------------------------------------------------------------------


@given(
    seed=st.integers(0, 10_000),
    frame=st.tuples(st.integers(2, 9), st.integers(2, 9)),
    shape=st.tuples(st.integers(1, 4), st.integers(1, 4)),
    far=st.sampled_from([0.0, 1.0, 30.0]),
)
def test_patches_equal_those_sampled_pixel_by_pixel(seed, frame, shape, far):
    rng = np.random.default_rng(seed)
    picture, size = rng.uniform(0, 255, frame), tuple(rng.uniform(0.5, 8, 2))
    states = np.column_stack(
        [rng.normal(3, 1 + far, 5), rng.normal(3, 1 + far, 5), rng.uniform(0.2, 2, 5), rng.uniform(-4, 4, 5)]
    )
    expected = [naive.patch(picture, state, size, shape) for state in states]
    assert_allclose(sample_boxes(picture, states, size, shape), expected, atol=1e-10 * 255)


def test_a_box_of_whole_pixels_is_cut_out(rng):
    picture = rng.uniform(0, 255, (30, 40)).astype(np.float32)
    box = np.array([[12.0, 13.0, 1.0, 0.0]])  # centre of x from 8 to 16, y from 10 to 16
    found = sample_boxes(picture, box, (8.0, 6.0), (6, 8))
    assert found.dtype == np.float32
    assert_array_equal(found.reshape(6, 8), picture[10:16, 8:16])
    quarter = np.array([[12.0, 13.0, 1.0, np.pi / 2]])
    turned = sample_boxes(picture.astype(float), quarter, (6.0, 6.0), (6, 6)).reshape(6, 6)
    assert_allclose(turned, np.rot90(picture[10:16, 9:15], 1), atol=1e-9)


def test_corners_go_around_the_box():
    assert_allclose(
        corners(np.array([10.0, 20.0, 2.0, 0.0]), (4.0, 6.0)), [[6, 14], [14, 14], [14, 26], [6, 26]], atol=1e-12
    )
    turned = corners(np.array([0.0, 0.0, 1.0, np.pi / 2]), (4.0, 2.0))
    assert_allclose(turned[0], [1, -2], atol=1e-12)  # the upper left corner has turned to the upper right


@pytest.mark.parametrize("size", [0.4, 1.0, 1.7, 3.0])
def test_noise_counts_the_same_at_every_size(rng, size):
    """White noise keeps (2/3)^2 of its variance between pixels, on average over places, whatever the step."""
    noise = rng.standard_normal((200, 200))
    states = np.column_stack([rng.uniform(80, 120, (300, 2)), np.full(300, size), rng.uniform(-3, 3, 300)])
    patches = sample_boxes(noise, states, (24.0, 24.0), (24, 24))
    assert_allclose(np.mean(patches**2), 4 / 9, rtol=0.08)


def test_patches_lose_their_light_and_blank_ones_become_nothing(rng):
    patches = rng.uniform(0, 255, (4, 30))
    patches[2] = 7.0
    expected = [naive.unit_contrast(patch) for patch in patches]
    assert_allclose(unit_contrast(patches), expected, atol=1e-12)
    assert_allclose(unit_contrast(3.0 * patches + 20.0), expected, atol=1e-12)
    assert not unit_contrast(patches)[2].any()


@pytest.mark.parametrize(("dtype", "exponent"), [(np.float64, 900), (np.float64, -900), (np.float32, 100)])
def test_squares_of_pixels_may_be_beyond_the_range_of_numbers(rng, dtype, exponent):
    patches = rng.uniform(0, 255, (4, 30)).astype(dtype)
    assert_allclose(unit_contrast(np.ldexp(patches, exponent)), unit_contrast(patches), rtol=1e-5)


def test_the_centre_of_a_patch_counts_more():
    weights = central_weights((3, 5), 0.5).reshape(3, 5)
    expected = [[np.exp(-2 * (v * v + u * u)) for u in (-0.8, -0.4, 0, 0.4, 0.8)] for v in (-2 / 3, 0, 2 / 3)]
    assert_allclose(weights, np.array(expected) / np.sum(expected))
    patch, flat = np.arange(15.0) ** 2, weights.ravel()
    mean = sum(w * p for w, p in zip(flat, patch, strict=True))
    length = np.sqrt(sum(w * (p - mean) ** 2 for w, p in zip(flat, patch, strict=True)))
    assert_allclose(
        unit_contrast(patch[None], flat)[0],
        [np.sqrt(w) * (p - mean) / length for w, p in zip(flat, patch, strict=True)],
    )
    assert_allclose(central_weights((3, 5), None), 1 / 15)


# -- made-up scenes ------------------------------------------------------------------------------------------------


def scene(seed, n=40, still=False):
    """A textured patch of 30 x 26 that moves, grows, turns and changes its light over a textured ground."""
    rng = np.random.default_rng(seed)

    def texture(h, w):
        picture = sum(k * ndimage.gaussian_filter(rng.standard_normal((h, w)), k) for k in (1.5, 4.0))
        return 30 + 180 * (picture - picture.min()) / np.ptp(picture)

    ground, skin = texture(90, 120), texture(40, 40)
    phase = np.zeros(n) if still else 2 * np.pi * np.arange(n) / 60
    x, y = 55 + 25 * np.sin(phase), 45 + 12 * np.sin(1.5 * phase)
    size, turn, light = 1 + 0.2 * np.sin(phase), 0.25 * np.sin(0.8 * phase), 1 - 0.4 * np.sin(phase)
    down, across = np.mgrid[0:90, 0:120] + 0.5
    frames = np.empty((n, 90, 120))
    for k in range(n):
        dx, dy = across - x[k], down - y[k]
        u = (np.cos(turn[k]) * dx + np.sin(turn[k]) * dy) / size[k]
        v = (np.cos(turn[k]) * dy - np.sin(turn[k]) * dx) / size[k]
        inside = (np.abs(u) < 15) & (np.abs(v) < 13)
        painted = ndimage.map_coordinates(skin, [v + 19.5, u + 19.5], order=1)
        frames[k] = np.where(inside, painted, ground) * light[k] + 2 * rng.standard_normal((90, 120))
    boxes = np.column_stack([x - 15 * size, y - 13 * size, 30 * size, 26 * size])
    return np.clip(frames, 0, 255).astype(np.uint8), boxes


def overlap(a, b):
    """Intersection over union, box by box."""
    low, high = np.maximum(a[:, :2], b[:, :2]), np.minimum(a[:, :2] + a[:, 2:], b[:, :2] + b[:, 2:])
    common = np.prod(np.maximum(high - low, 0), axis=1)
    return common / (np.prod(a[:, 2:], axis=1) + np.prod(b[:, 2:], axis=1) - common)


@pytest.mark.parametrize("seed", [1, 2])
def test_it_follows_motion_size_turn_and_light(seed):
    frames, boxes = scene(seed)
    tracker = AppearanceTracker(random_state=0)
    found = tracker.track(frames, boxes[0])
    assert_array_equal(found[0], boxes[0])
    assert overlap(found, boxes).min() > 0.6
    assert overlap(found, boxes).mean() > 0.8
    assert abs(tracker.state_[3] - 0.25 * np.sin(0.8 * 2 * np.pi * 39 / 60)) < 0.2
    assert_allclose(tracker.corners_.mean(axis=0), tracker.state_[:2])
    assert tracker.n_frames_ == 40


def test_likelihood_counts_scores_beside_the_residual():
    frames, boxes = scene(1, n=14)
    tracker = AppearanceTracker(random_state=0)
    found = tracker.track(frames, boxes[0])
    assert overlap(found, boxes).mean() > 0.8
    patches = tracker._patches(frames[-1].astype(np.float32), tracker.state_ + np.eye(4)[:3] * [3.0, 3.0, 0.2, 0.0])
    scores, variances = tracker.estimator_.transform(patches), tracker.estimator_.explained_variance_
    usual = np.median(list(tracker._residuals))
    expected = [
        usual * np.mean([y**2 / (v + 0.1 * usual) for y, v in zip(row, variances, strict=True)]) for row in scores
    ]
    residuals, costs = tracker._judged(patches, tracker._usual)
    assert_allclose(residuals, tracker.estimator_.reconstruction_error(patches), rtol=1e-5)
    assert_allclose(costs - residuals, expected, rtol=1e-5)
    assert_allclose(strangeness(tracker.estimator_, patches, usual), expected, rtol=1e-5)
    assert AppearanceTracker(random_state=0).start(frames[0], boxes[0])._usual == 0.0
    tracker.criterion = "residual"
    assert_array_equal(*tracker._judged(patches, tracker._usual))


# -- motion, and an object that is lost ------------------------------------------------------------------------------


def test_steps_lead_from_a_state_to_others_and_back():
    field = Field((20.0, 30.0), (200, 300))
    state, steps = np.array([100.0, 80.0, 1.5, 0.1]), np.array([[0.1, -0.2, 0.3, 0.05], [0.0, 0.0, 0.0, 0.0]])
    states = field.moved(state, steps)
    extent = 1.5 * np.sqrt(600)
    assert_allclose(states[0], [100 + 0.1 * extent, 80 - 0.2 * extent, 1.5 * np.exp(0.3), 0.15])
    assert_allclose(field.steps(state, states), steps, atol=1e-12)
    assert_allclose(field.moved(state, np.array([[-90.0, 90.0, 9.0, 0.0]]))[0, :3], [0, 200, 200 / 30])


def test_the_prior_of_motion_follows_the_last_steps():
    prior = MotionPrior.of((0.1, 0.02, 0.0))
    assert_allclose(prior.deviations, [0.1, 0.1, 0.02, 0.0])
    still, fast = prior, prior
    for _ in range(100):
        still, fast = still.after(np.zeros(4)), fast.after(np.array([0.2, 0.0, 0.01, 0.0]))
    assert_allclose(still.deviations, 0.6 * prior.deviations)
    assert_allclose(fast.deviations, [0.2, 0.2, 0.02, 0.0], rtol=1e-4)  # at most twice what was given
    slow = prior.after(np.array([0.06, 0.08, 0.0, 0.0]))
    assert_allclose(slow.variances[0], 0.9 * 0.01 + 0.1 * 4 * 0.005)
    assert_allclose(prior.distances(np.array([[0.1, 0.2, 0.04, 0.0]])), 1 + 4 + 4)


def test_p_values_are_those_of_the_residuals_of_frames_with_the_object(rng):
    """Under log-normal residuals a p-value below a level is as frequent as the level, about."""
    found = np.array(
        [residual_p_value(values[-1], list(values[:-1])) for values in np.exp(rng.normal(-3, 0.8, (4000, 51)))]
    )
    assert 0.06 < np.mean(found < 0.1) < 0.15
    assert 0.004 < np.mean(found < 0.01) < 0.025
    recent = list(np.exp(rng.normal(-3, 0.8, 50)))
    assert residual_p_value(0.9, [*recent, 1.0, 1.0]) < 0.01  # two bad frames among them do not hide a third
    assert residual_p_value(0.9, recent[:7]) == 1.0  # too few to say anything
    assert residual_p_value(0.0, recent) == 1.0


def hiding(seed, hidden=20):
    """The scene, with a textured board before the object in 20 frames."""
    frames, boxes = scene(seed, n=80)
    rng = np.random.default_rng(99)
    board = np.clip(128 + 300 * ndimage.gaussian_filter(rng.standard_normal((90, 120)), 3), 0, 255).astype(np.uint8)
    x, y, w, h = boxes[40 : 40 + hidden].T
    left, right, top, bottom = int(x.min()) - 4, int((x + w).max()) + 4, int(y.min()) - 4, int((y + h).max()) + 4
    frames[40 : 40 + hidden, max(top, 0) : bottom, max(left, 0) : right] = board[
        max(top, 0) : bottom, max(left, 0) : right
    ]
    return frames, boxes


@pytest.mark.parametrize("seed", [1, 3])
def test_an_object_that_is_hidden_for_20_frames_is_lost_and_found_again(seed):
    frames, boxes = hiding(seed)
    tracker = AppearanceTracker(random_state=0).start(frames[0], boxes[0])
    found, lost = [tracker.box_], [False]
    for number, frame in enumerate(frames[1:], 1):
        before = tracker.estimator_.n_samples_seen_
        box = tracker.update(frame)
        found.append(box)
        lost.append(box.lost)
        assert (box.lost, box.p_value) == (tracker.lost_, tracker.p_value_)
        if box.lost:
            assert tracker.estimator_.n_samples_seen_ == before, number
    assert not any(lost[:40])
    assert all(lost[40:60])
    assert not any(lost[66:])
    assert overlap(np.array(found), boxes)[66:].mean() > 0.6


def without_object(frames, content):
    """Frames of the same size in which the object is nowhere."""
    n, height, width = frames.shape
    rng = np.random.default_rng(7)
    return {
        "black": lambda: np.zeros(frames.shape),
        "white": lambda: np.full(frames.shape, 255.0),
        "gradient": lambda: np.tile(np.linspace(0, 255, width), (n, height, 1)),
        "noise": lambda: rng.uniform(0, 255, frames.shape),
        "black with noise": lambda: np.clip(rng.normal(0, 2, frames.shape), 0, 255),
        "upside down": lambda: frames[:, ::-1, ::-1],
        "another scene": lambda: scene(8, n)[0][:, :height, :width],
    }[content]()


CONTENTS = ["black", "white", "gradient", "noise", "black with noise", "upside down", "another scene"]


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("seen", [4, 30])
@pytest.mark.parametrize("content", CONTENTS)
def test_an_object_that_vanishes_is_lost_and_found_again(content, seen, normalize):
    """After 4 frames there are no p-values yet."""
    frames, boxes = scene(1, n=seen + 30, still=True)
    tracker = AppearanceTracker(random_state=0, normalize=normalize)
    tracker.track(frames[:seen], boxes[0])
    learned, where = tracker.estimator_.n_samples_seen_, tracker.box_
    for frame in without_object(frames[seen : seen + 15], content):
        assert tracker.update(frame).lost
    assert tracker.n_lost_ == 15
    assert tracker.estimator_.n_samples_seen_ == learned
    found = [tracker.update(frame) for frame in frames[seen + 15 :]]
    assert not any(box.lost for box in found[5:])
    assert overlap(np.array(found[5:]), boxes[seen + 20 :]).min() > 0.8, where


@pytest.mark.parametrize(
    "content", [c for c in CONTENTS[:-1] if c != "gradient"]
)  # it looks like this face, lit from one side
def test_a_face_that_vanishes_is_lost_and_found_again(content, data_set):
    video = data_set("track_david_indoor")
    frames, boxes = video["X"].astype(float), video["boxes"]
    tracker = AppearanceTracker(random_state=0)
    assert tracker.track(frames[:40], boxes[0]).shape == (40, 4)
    assert all(tracker.update(frame).lost for frame in without_object(frames[40:55], content))
    found = np.array([tracker.update(frame) for frame in frames[40:70]])
    assert not tracker.lost_
    assert overlap(found, boxes[40:70])[10:].mean() > 0.6


def test_a_model_without_components_is_judged_by_its_residual():
    class FirstPatch(BaseEstimator):
        def partial_fit(self, X):
            self.patch_ = getattr(self, "patch_", X[0])
            return self

        def reconstruction_error(self, X):
            return ((X - self.patch_) ** 2).sum(axis=1)

    frames, boxes = scene(1, n=14)
    found = AppearanceTracker(FirstPatch(), random_state=0).track(frames, boxes[0])
    assert_array_equal(
        found, AppearanceTracker(FirstPatch(), random_state=0, criterion="residual").track(frames, boxes[0])
    )
    assert overlap(found, boxes).mean() > 0.8


def test_the_same_seed_gives_the_same_boxes():
    frames, boxes = scene(3, n=8)
    first, again = (AppearanceTracker(random_state=5).track(frames, boxes[0]) for _ in range(2))
    assert_array_equal(first, again)
    tracker = AppearanceTracker(random_state=5)
    tracker.track(frames[::-1], boxes[-1])
    assert_array_equal(tracker.track(frames, boxes[0]), first)  # nothing of the video before is left
    assert np.any(AppearanceTracker(random_state=6).track(frames, boxes[0]) != first)


def test_the_number_of_threads_changes_no_box():
    frames, boxes = scene(2, n=14)
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            found.append(AppearanceTracker(random_state=0).track(frames, boxes[0]))
    assert_array_equal(*found)


def test_a_still_object_keeps_its_box():
    frames, boxes = scene(4, n=12, still=True)
    assert overlap(AppearanceTracker(random_state=0).track(frames, boxes[0]), boxes).min() > 0.9


def test_update_takes_the_best_of_its_candidates():
    frames, boxes = scene(5, n=3)
    tracker = AppearanceTracker(random_state=0, rounds=1, restraint=0.0, spread=(0.07, 0.02, 0.03), refine=False)
    tracker.start(frames[0], boxes[0])
    draws = np.random.RandomState(0).standard_normal((tracker.n_candidates, 4))
    draws[0] = 0.0
    extent = np.sqrt(30 * 26)
    states = tracker.state_ + draws * [0.07 * extent, 0.07 * extent, 0.0, 0.03]
    states[:, 2] = np.exp(0.02 * draws[:, 2])
    patches = tracker._patches(frames[1].astype(np.float32), states)
    best = np.argmin(tracker.estimator_.reconstruction_error(patches))
    tracker.update(frames[1])
    assert_allclose(tracker.state_, states[best])


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("spread", [(0.07, 0.015, 0.02), (0.07, 0.0, 0.02)])
def test_refined_states_are_where_the_criterion_is_least_nearby(spread, kernel):
    """No neighbour at a tenth of a standard deviation is better by more than the steps leave."""
    frames, boxes = scene(2, n=13)
    tracker = AppearanceTracker(default_model(kernel=kernel), random_state=0, spread=spread)
    tracker.start(frames[0], boxes[0])
    for frame in frames[1:12]:
        tracker.update(frame)
    grey, last, prior = frames[12].astype(np.float32), tracker.state_, tracker._prior
    plan = near_rounds(30, 1, prior.deviations)
    drawn = tracker._random.get_state()
    found = tracker._best(grey, last, plan)
    tracker.refine = False
    tracker._random.set_state(drawn)
    rough = tracker._best(grey, last, plan)
    assert found.cost < rough.cost
    nearby = tracker._field.moved(found.state, 0.5 * np.vstack([np.diag(prior.deviations), -np.diag(prior.deviations)]))
    costs = tracker._judged(tracker._patches(grey, nearby), tracker._usual)[1]
    costs = costs * (1 + tracker.restraint * prior.distances(tracker._field.steps(last, nearby)))
    assert costs.min() >= found.cost * (1 - (1e-9 if kernel == "linear" else 1e-6))  # kernel values are in float32
    assert (found.state[2] == last[2]) == (spread[1] == 0)


def test_the_model_learns_every_five_frames_in_bounded_memory():
    frames, boxes = scene(1)
    tracker = AppearanceTracker(keep_first=True, random_state=0).start(frames[0], boxes[0])
    seen = []
    for frame in frames[1:]:
        tracker.update(frame)
        seen.append(tracker.estimator_.n_samples_seen_)
    assert seen[3:10] == [1, 7, 7, 7, 7, 7, 13]  # five patches and the first one again
    small = IncrementalKernelPCA(3, rank=3, points_per_component=3, gamma=1.0, batch_size=5)
    tracker = AppearanceTracker(small, random_state=0)
    assert overlap(tracker.track(frames, boxes[0]), boxes).mean() > 0.7
    assert tracker.estimator_.n_samples_seen_ == 36
    assert tracker.estimator_.expansion_.n_points <= 12
    assert not hasattr(small, "expansion_")


def test_the_default_model_can_be_given_by_hand():
    frames, boxes = scene(2, n=12)
    by_default = AppearanceTracker(random_state=0).track(frames, boxes[0])
    assert_array_equal(AppearanceTracker(default_model(), random_state=0).track(frames, boxes[0]), by_default)
    assert default_model(kernel="rbf").get_params() == {**default_model().get_params(), "kernel": "rbf"}


@pytest.mark.parametrize(
    "estimator",
    [IncrementalKernelPCA(5, gamma=1.0), LandmarkKernelPCA(5, landmarks=30, gamma=1.0)],
    ids=["kernel", "landmarks"],
)
def test_any_model_of_appearance(estimator):
    frames, boxes = scene(2, n=25)
    assert overlap(AppearanceTracker(estimator, random_state=0).track(frames, boxes[0]), boxes).mean() > 0.7


def test_colour_and_floats():
    frames, boxes = scene(1, n=8)
    grey = AppearanceTracker(random_state=0).track(frames, boxes[0])
    colour = AppearanceTracker(random_state=0).track(np.repeat(frames[..., None], 3, axis=3), boxes[0])
    assert_allclose(colour, grey, atol=0.5)
    one_channel = AppearanceTracker(random_state=0).track(frames[..., None], boxes[0])
    assert_array_equal(one_channel, grey)
    bright = AppearanceTracker(random_state=0).track(frames * 1e-3 + 5.0, boxes[0])
    assert_allclose(bright, grey, atol=0.5)


def test_the_box_stays_in_the_frame():
    frames, boxes = scene(1, n=30)
    wild = AppearanceTracker(random_state=0, spread=(0.6, 0.3, 0.5), restraint=0.0)
    found = wild.track(np.random.default_rng(0).permuted(frames, axis=0), boxes[0])
    centres = found[:, :2] + found[:, 2:] / 2
    assert centres.min() >= 0
    assert (centres <= [120, 90]).all()
    assert found[:, 2:].min() >= 3.9
    assert (found[:, 2:] <= [120, 90]).all()


def test_a_picture_without_contrast_is_survived():
    blank = np.full((40, 50), 7.0)
    with pytest.warns(UserWarning, match="nothing to follow"):
        tracker = AppearanceTracker(random_state=0).start(blank, (10, 10, 12, 12))
    for _ in range(6):
        assert_allclose(tracker.update(blank), (10, 10, 12, 12))  # nothing says that it has moved


# -- bad input -----------------------------------------------------------------------------------------------------


def test_bad_frames_and_boxes():
    frames, boxes = scene(1, n=6)
    with pytest.raises(NotFittedError, match=r"start\(frame, box\) first"):
        AppearanceTracker().update(frames[0])
    with pytest.raises(NotFittedError, match=r"start\(frame, box\) first"):
        _ = AppearanceTracker().corners_
    for box in ((-40, 10, 30, 26), (110, 10, 30, 26), (10, 500, 30, 26), (0, 0, 400, 400)):
        with pytest.raises(ValueError, match="outside the frame"):
            AppearanceTracker().start(frames[0], box)
    with pytest.raises(ValueError, match="too small"):
        AppearanceTracker().start(frames[0], (10, 10, 0, 20))
    for box in ((1, 2, 3), (1, 2, 3, np.nan), [[1, 2, 3, 4]], "1,2,3,4", ("a", 2, 3, 4), None):
        with pytest.raises(ValueError, match="four finite numbers"):
            AppearanceTracker().start(frames[0], box)
    for frame in (np.zeros(5), np.zeros((3, 60, 80)), np.zeros((4, 4, 4, 4)), np.zeros((20, 20, 7)), np.zeros((0, 0))):
        with pytest.raises(ValueError, match=r"shape \(height, width\)"):
            AppearanceTracker().start(frame, boxes[0])
    with pytest.raises(TypeError, match="A frame holds numbers"):
        AppearanceTracker().start(np.full((20, 20), "a"), boxes[0])
    with pytest.raises(ValueError, match="1 masked values"):
        AppearanceTracker().start(np.ma.array(np.eye(20), mask=np.arange(400).reshape(20, 20) == 7), (2, 2, 9, 9))
    with pytest.raises(ValueError, match="no frames"):
        AppearanceTracker().track([], boxes[0])


def test_a_bad_frame_leaves_the_tracker_as_it_was():
    frames, boxes = scene(1, n=6)
    tracker = AppearanceTracker(random_state=0).start(frames[0], boxes[0])
    hurt = frames[1].astype(float)
    hurt[3, 4] = np.nan
    with pytest.raises(ValueError, match="NaN or infinity"):
        tracker.update(hurt)
    with pytest.raises(ValueError, match="90 x 120"):
        tracker.update(frames[1][:50])
    found = [tracker.box_, *(tracker.update(frame) for frame in frames[1:])]
    assert_array_equal(found, AppearanceTracker(random_state=0).track(frames, boxes[0]))


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"n_candidates": 0}, "n_candidates must be"),
        ({"rounds": 300}, "cannot come in 300 rounds"),
        ({"update_every": 2.5}, "update_every must be"),
        ({"patch_shape": (1, 1)}, "two pixels"),
        ({"patch_shape": 24}, "two whole numbers"),
        ({"spread": 0.1}, "three numbers"),
        ({"spread": (0.1, 0.1)}, "three numbers"),
        ({"spread": (0.1, -0.1, 0.0)}, "three numbers"),
        ({"restraint": -1.0}, "restraint must be"),
        ({"criterion": "best"}, "criterion must be one of"),
        ({"focus": 0.0}, "focus must be"),
    ],
)
def test_bad_parameters(parameters, text):
    frames, boxes = scene(1, n=1)
    with pytest.raises(ValueError, match=text):
        AppearanceTracker(**parameters).start(frames[0], boxes[0])


def test_a_model_that_cannot_learn_on_is_refused():
    frames, boxes = scene(1, n=2)
    with pytest.raises(TypeError, match="needs partial_fit, which KernelPCA has not"):
        AppearanceTracker(KernelPCA(3)).start(frames[0], boxes[0])


# -- figures and the command line ------------------------------------------------------------------------------------


def test_strip_shows_frames_with_both_boxes(tmp_path):
    frames, boxes = scene(1, n=9)
    figure = plots.track_strip(frames, boxes + 2, boxes, count=5, columns=3)
    drawn = [axes for axes in figure.axes if axes.images]
    assert [axes.get_title(loc="left") for axes in drawn] == [f"frame {i}" for i in (0, 2, 4, 6, 8)]
    true, found = drawn[0].lines
    assert_allclose(found.get_xydata()[0] - true.get_xydata()[0], 2)
    assert_allclose(true.get_xydata()[0], boxes[0, :2] - 0.5)
    figure.savefig(tmp_path / "strip.png", dpi=40)
    with pytest.raises(ValueError, match="as many boxes"):
        plots.track_strip(frames, boxes[:3])


def test_command_writes_boxes_and_a_picture(tmp_path):
    frames, boxes = scene(1, n=8)
    np.savez(tmp_path / "frames.npz", X=frames, boxes=boxes)
    out, strip = tmp_path / "boxes.csv", tmp_path / "strip.png"
    box = ",".join(str(value) for value in boxes[0])
    command = ["track", str(tmp_path / "frames.npz"), f"--box={box}", "-o", str(out), "--video-strip", str(strip)]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    names, *rows = csv.reader(out.open())
    assert names == ["x", "y", "w", "h"]
    assert_allclose(np.array(rows, float), AppearanceTracker(random_state=0).track(frames, boxes[0]), rtol=1e-6)
    assert strip.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("file", "box", "text"),
    [
        ("frames.npz", "1,2,3", "give x,y,w,h"),
        ("frames.npz", "500,2,30,30", "outside the frame"),
        ("none.npz", "1,2,30,30", "is not a file or folder"),
        ("table.npy", "1,2,30,30", r"\(frames, height, width\)"),
        ("two.npz", "1,2,30,30", "--key"),
        ("text.npy", "1,2,30,30", "cannot be read"),
    ],
)
def test_command_says_what_is_wrong(tmp_path, file, box, text):
    np.savez(tmp_path / "frames.npz", X=np.zeros((3, 40, 50)))
    np.savez(tmp_path / "two.npz", a=np.zeros((3, 40, 50)), b=np.zeros(3))
    np.save(tmp_path / "table.npy", np.zeros((5, 4)))
    (tmp_path / "text.npy").write_text("x,y")
    result = CliRunner().invoke(app, ["track", str(tmp_path / file), f"--box={box}"])
    assert result.exit_code == 2
    assert re.search(text, result.output), result.output


# -- a real video --------------------------------------------------------------------------------------------------


def test_a_face_is_followed_through_changing_light(data_set):
    video = data_set("track_david_indoor")
    frames, boxes = video["X"][:100], video["boxes"][:100]
    found = AppearanceTracker(random_state=0).track(frames, boxes[0])
    assert overlap(found, boxes).mean() > 0.6
    assert np.mean(overlap(found, boxes) > 0.5) > 0.9


def test_videos_of_the_benchmark_are_the_same_again_and_have_true_boxes():
    pytest.importorskip("skimage")
    from benchmarks.suite.videos import kinds

    for kind in (kinds.card, kinds.globe, kinds.quick):
        frames, boxes = kinds.made(kind, 7, 30)
        again, _ = kinds.made(kind, 7, 30)
        assert_array_equal(frames, again)
        assert frames.shape == (30, 120, 160)
        tracker = AppearanceTracker().start(frames[0], boxes[0])
        states = np.column_stack([boxes[:, :2] + boxes[:, 2:] / 2, boxes[:, 2] / boxes[0, 2], np.zeros(30)])
        aside = states + np.array([0.5 * boxes[0, 2], 0.0, 0.0, 0.0])
        on, off = (
            np.concatenate(
                [tracker._patches(frame.astype(float), one[None]) for frame, one in zip(frames, at, strict=True)]
            )
            for at in (states, aside)
        )
        near, far = np.linalg.norm(on[1:] - on[:-1], axis=1), np.linalg.norm(off - on, axis=1)
        assert np.median(near) < 0.5 * np.median(far)  # what is in the box stays alike, what is beside it is not


@pytest.mark.parametrize("stop", [1, 3, 9, 17])
def test_a_saved_tracker_goes_on_as_if_nothing_had_happened(stop, tmp_path):
    frames, boxes = scene(1, n=20)
    frames[16:18] = 255 - frames[16:18]  # the object is lost there
    tracker = AppearanceTracker(random_state=3, keep_first=True, n_candidates=60).start(frames[0], boxes[0])
    for frame in frames[1:stop]:
        tracker.update(frame)
    tracker.save(tmp_path / "tracker")
    again = mercer.load(tmp_path / "tracker")
    assert again.n_frames_ == stop
    assert_array_equal(again.corners_, tracker.corners_)
    for frame in frames[stop:]:
        assert_array_equal(again.update(frame), tracker.update(frame))
        assert (again.residual_, again.p_value_, again.lost_) == (tracker.residual_, tracker.p_value_, tracker.lost_)


def test_a_tracker_that_draws_from_another_kind_of_generator_is_not_saved(tmp_path):
    frames, boxes = scene(1, n=1)
    other = np.random.RandomState(np.random.PCG64(0))
    tracker = AppearanceTracker(random_state=other).start(frames[0], boxes[0])
    with pytest.raises(NotSaveableError, match="generator on PCG64"):
        tracker.save(tmp_path / "tracker")


def test_a_lost_box_stays_lost_when_it_is_sent_to_another_process():
    box = pickle.loads(pickle.dumps(TrackedBox.of([1, 2, 3, 4], lost=True, p_value=1e-9)))
    assert_array_equal(box, [1, 2, 3, 4])
    assert (box.lost, box.p_value) == (True, 1e-9)
