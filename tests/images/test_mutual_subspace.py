"""Sets of images told apart by angles between kernel subspaces."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError

import mercer
from mercer import IncrementalKernelPCA, KernelMutualSubspace, KernelPCA, LandmarkKernelPCA, RobustKernelPCA
from mercer.images.verification import threshold_for
from mercer.metrics import subspace_distance
from textbook import tracking as naive

every_measure = pytest.mark.parametrize("measure", ["cosines", "angles"])
MAPS = {"linear": lambda row: np.asarray(row), "poly": naive.explicit_quadratic}


def exact(kernel, r=3, **more):
    more = {"degree": 2, "coef0": 0, "gamma": 1.0, **more}
    return IncrementalKernelPCA(r, kernel=kernel, center=False, rank=20, compression=None, **more)


def classes(rng, n_sets=4, n=12, d=6, noise=0.05):
    """Sets around random three-dimensional subspaces, two sets a label."""
    spans = [rng.standard_normal((3, d)) for _ in range(n_sets)]
    draw = [
        rng.standard_normal((n, 3)) @ span + noise * rng.standard_normal((n, d)) for _ in range(2) for span in spans
    ]
    return draw[:n_sets], draw[n_sets:], [f"label {k}" for k in range(n_sets)]


# -- the twin ------------------------------------------------------------------------------------------------------


@every_measure
@pytest.mark.parametrize("kernel", MAPS)
@given(seed=st.integers(0, 10_000), n_angles=st.integers(1, 4), frames=st.integers(1, 5))
def test_similarity_equals_that_of_explicit_maps(kernel, measure, seed, n_angles, frames):
    rng = np.random.default_rng(seed)
    known = [rng.standard_normal((rng.integers(1, 7), 4)) for _ in range(3)]
    known[0] = np.vstack([known[0], known[0][:1]])  # an image twice
    unknown = [rng.standard_normal((frames, 4)) for _ in range(2)]
    model = KernelMutualSubspace(
        exact(kernel), n_components=3, n_angles=n_angles, measure=measure, normalize=False
    ).fit(known, [2, 0, 1])
    found = model.similarity(unknown)
    bases = [naive.subspace(known[k], 3, MAPS[kernel]) for k in (1, 2, 0)]  # in the order of the labels
    for i, images in enumerate(unknown):
        query = naive.subspace(images, 3, MAPS[kernel])
        expected = [naive.similarity(query, basis, n_angles, measure) for basis in bases]
        assert_allclose(found[i], expected, atol=2e-6)


def test_distance_agrees_with_the_metric_of_models(rng):
    known, unknown, labels = classes(rng)
    model = KernelMutualSubspace(n_components=3, n_angles=3, measure="angles", normalize=False).fit(known, labels)
    queries = [model._new_model().fit(one) for one in unknown]
    expected = [[subspace_distance(q, r, 3) for r in model.references_.values()] for q in queries]
    assert_allclose((1 - model.similarity(unknown)) * np.sqrt(3) * np.pi / 2, expected, atol=1e-6)
    assert_allclose(model.similarity(queries), model.similarity(unknown), atol=1e-12)
    assert_allclose(model.similarity([q.expansion_ for q in queries]), model.similarity(unknown), atol=1e-12)


def test_area_is_the_chance_that_the_genuine_pair_wins(rng):
    known, unknown, labels = classes(rng, noise=1.5)
    model = KernelMutualSubspace(n_components=3).fit(known, labels)
    roc = model.roc(unknown, labels)
    genuine = np.eye(4, dtype=bool).ravel()
    assert_allclose(roc.area, naive.roc_area(model.similarity(unknown).ravel(), genuine), atol=1e-12)
    assert np.all(np.diff(roc.false_accepts) >= 0)
    assert np.all(np.diff(roc.true_accepts) >= 0)


# -- laws ----------------------------------------------------------------------------------------------------------


def test_a_set_is_most_like_itself(rng):
    known, _, labels = classes(rng, d=8)
    for measure in ("cosines", "angles"):
        model = KernelMutualSubspace(n_components=3, measure=measure).fit(known, labels)
        similarity = model.similarity(known)
        assert_allclose(np.diag(similarity), 1.0, atol=1e-5)
        assert similarity.min() >= 0
        assert similarity.max() <= 1
        assert similarity[~np.eye(4, dtype=bool)].max() < 0.999


def test_a_frame_at_a_time_gives_what_fit_gives(rng):
    known, unknown, labels = classes(rng)
    whole = KernelMutualSubspace(n_components=3, gamma=0.1).fit(known, labels)
    stream = KernelMutualSubspace(n_components=3, gamma=0.1)
    for number in range(len(known[0])):
        for images, label in zip(known, labels, strict=True):
            stream.partial_fit(images[number], label)
        stream.similarity(unknown)  # can be asked at any time, and must not remember what it answered
    assert_array_equal(stream.classes_, whole.classes_)
    assert_allclose(stream.similarity(unknown), whole.similarity(unknown), atol=1e-6)


def test_sets_of_one_label_are_taken_together(rng):
    known, unknown, labels = classes(rng)
    halves = [half for images in known for half in (images[:5], images[5:])]
    together = KernelMutualSubspace(n_components=3).fit(halves, np.repeat(labels, 2))
    whole = KernelMutualSubspace(n_components=3).fit(known, labels)
    assert_allclose(together.similarity(unknown), whole.similarity(unknown))


def test_brightness_does_not_count(rng):
    known, unknown, labels = classes(rng)
    dim = [images * rng.uniform(0.1, 3, (len(images), 1)) for images in unknown]
    model = KernelMutualSubspace(n_components=3).fit(known, labels)
    assert_allclose(model.similarity(dim), model.similarity(unknown), atol=1e-9)
    raw = KernelMutualSubspace(n_components=3, normalize=False).fit(known, labels)
    assert np.abs(raw.similarity(dim) - raw.similarity(unknown)).max() > 1e-3


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_any_scale_of_pixels(rng, scale):
    known, unknown, labels = classes(rng)
    model = KernelMutualSubspace(n_components=3).fit([scale * one for one in known], labels)
    assert_array_equal(model.predict([scale * one for one in unknown]), labels)


def test_pictures_rows_and_float32(rng):
    known, unknown, labels = classes(rng)
    rows = KernelMutualSubspace(n_components=3).fit(known, labels)
    pictures = KernelMutualSubspace(n_components=3).fit([one.reshape(-1, 2, 3) for one in known], labels)
    assert_array_equal(pictures.similarity(np.array(unknown).reshape(4, -1, 2, 3)), rows.similarity(unknown))
    single = KernelMutualSubspace(n_components=3).fit([one.astype(np.float32) for one in known], labels)
    assert_allclose(single.similarity(unknown), rows.similarity(unknown), atol=1e-4)


@pytest.mark.parametrize(
    "estimator",
    [KernelPCA(3), LandmarkKernelPCA(3, landmarks=10, center=False), RobustKernelPCA(3)],
    ids=lambda estimator: type(estimator).__name__,
)
def test_any_estimator(rng, estimator):
    known, unknown, labels = classes(rng, n=40)
    model = KernelMutualSubspace(estimator, n_components=3).fit(known, labels)
    assert_array_equal(model.predict(unknown), labels)
    assert not hasattr(estimator, "expansion_")


def test_width_is_frozen_by_the_first_call(rng):
    known, unknown, labels = classes(rng)
    model = KernelMutualSubspace(IncrementalKernelPCA(3, gamma="median", center=False)).fit(known, labels)
    assert len({reference.gamma_ for reference in model.references_.values()}) == 1
    assert next(iter(model.references_.values())).gamma_ == model.gamma_
    model.partial_fit(10 * unknown[0], "another")
    assert model.references_["another"].gamma_ == model.gamma_


@pytest.mark.parametrize("later", [1, 2, 5])
def test_another_dimension_counts_from_the_next_comparison_on(rng, later):
    known, unknown, labels = classes(rng)
    model = KernelMutualSubspace(exact("linear", 5), n_components=3, n_angles=2).fit(known, labels)
    model.similarity(unknown)
    fresh = KernelMutualSubspace(exact("linear", 5), n_components=later, n_angles=2).fit(known, labels)
    assert_allclose(model.set_params(n_components=later).similarity(unknown), fresh.similarity(unknown), atol=1e-9)
    with pytest.raises(ValueError, match="n_angles"):
        model.set_params(n_angles=0).similarity(unknown)


def test_a_fit_that_fails_leaves_the_references_and_their_threshold(rng):
    known, unknown, labels = classes(rng)
    model = KernelMutualSubspace().fit(known, labels).calibrate(known, labels)
    before, threshold = model.similarity(unknown), model.threshold_
    model.set_params(estimator=LandmarkKernelPCA(9, landmarks=5, gamma=3.0, center=False))
    with pytest.raises(ValueError, match="at least as many landmarks"):
        model.fit(known, labels)
    model.set_params(estimator=None)
    assert_array_equal(model.similarity(unknown), before)
    assert model.threshold_ == threshold


# -- deciding ------------------------------------------------------------------------------------------------------


def test_predict_and_verify(rng):
    known, unknown, labels = classes(rng)
    model = KernelMutualSubspace(n_components=3).fit(known, labels)
    assert_array_equal(model.predict(unknown), labels)
    model.calibrate(unknown, labels, false_accepts=0.0)
    assert model.verify(unknown, labels).all()
    assert not model.verify(unknown, [*labels[1:], labels[0]]).any()
    assert KernelMutualSubspace(n_components=3, threshold=1.1).fit(known, labels).verify(unknown, labels).sum() == 0


@given(st.lists(st.integers(0, 20), min_size=1, max_size=40), st.sampled_from([0.0, 0.01, 0.1, 0.29, 0.5, 0.99]))
def test_threshold_lies_just_above_the_highest_similarity_to_be_refused(similarities, share):
    impostors = np.array(similarities) / 20  # many are equal
    found = threshold_for(impostors, share)
    refused = naive.highest_refused(impostors, share)
    assert refused < found < refused + 1e-8
    assert np.mean(impostors >= found) <= share


@pytest.mark.parametrize("share", [0.0, 0.1, 0.3])
def test_calibration_keeps_its_promise_and_is_the_lowest(rng, share):
    known, unknown, labels = classes(rng, noise=2.0)
    model = KernelMutualSubspace(n_components=3).fit(known, labels).calibrate(unknown, labels, share)
    impostors = model.similarity(unknown)[~np.eye(4, dtype=bool)]
    assert np.mean(impostors >= model.threshold_) <= share
    assert np.mean(impostors >= model.threshold_ - 1e-8) > share


def digits(first, last):
    X, y = load_digits(return_X_y=True)
    return [X[y == k][first:last] for k in range(10)]


@pytest.mark.parametrize("first", [0, 60], ids=["sets that were learned", "other sets"])
def test_genuine_digits_are_accepted_whatever_sets_calibrate(first):
    """A set that was learned is its own reference: that similarity of 1 must not decide about other sets."""
    model = KernelMutualSubspace().fit(digits(0, 60), range(10)).calibrate(digits(first, first + 60), range(10))
    assert 0.98 < model.threshold_ < 0.995
    unknown = digits(120, 170)
    assert_array_equal(model.predict(unknown), range(10))
    assert model.verify(unknown, range(10)).all()
    assert not model.verify(unknown, np.roll(range(10), 1)).any()


def test_calibration_needs_impostors_and_nothing_else(rng):
    known, unknown, labels = classes(rng)
    model = KernelMutualSubspace(n_components=3).fit(known, labels)
    strangers = model.similarity(unknown).max()
    assert model.calibrate(unknown, ["stranger"] * 4, 0.0).threshold_ == pytest.approx(strangers, abs=1e-8)
    alone = KernelMutualSubspace(n_components=3).partial_fit(known[0], labels[0])
    with pytest.raises(ValueError, match="no set has another label than its reference"):
        alone.calibrate(unknown[:1], labels[:1])
    for share in (-0.1, 1.0, np.nan):
        with pytest.raises(ValueError, match="false_accepts is a share"):
            model.calibrate(unknown, labels, share)


def test_fitting_again_forgets_the_threshold(rng):
    known, unknown, labels = classes(rng)
    model = KernelMutualSubspace(n_components=3).fit(known, labels).calibrate(unknown, labels)
    with pytest.raises(NotFittedError, match="no threshold yet"):
        _ = model.fit(unknown, labels).threshold_


@every_measure
def test_a_threshold_that_nothing_reaches_is_told(rng, measure):
    known, unknown, labels = classes(rng)
    model = KernelMutualSubspace(n_components=3, measure=measure).fit([*known, known[0]], [*labels, "twin"])
    with pytest.warns(UserWarning, match="verify accepts no new set"):
        model.calibrate(known, labels, 0.0)
    assert not model.verify(unknown, labels).any()


@every_measure
def test_a_curve_of_sets_compared_with_themselves_is_told(rng, measure):
    known, unknown, labels = classes(rng)
    model = KernelMutualSubspace(n_components=3, measure=measure).fit(known, labels)
    with pytest.warns(UserWarning, match=r"4 of the 4 .* with themselves"):
        model.roc(known, labels)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.roc(unknown, labels)
        model.calibrate(known, labels)


def test_small_sets_are_recognised_by_default():
    """One angle counts: the others of a set of three digits compare directions that three images do not support."""
    X, y = load_digits(return_X_y=True)
    known = [X[:900][y[:900] == digit] for digit in range(10)]
    later = [X[900:][y[900:] == digit] for digit in range(10)]
    for size, least in ((3, 0.97), (5, 0.98), (10, 0.99)):
        unknown = [one[i : i + size] for one in later for i in range(0, len(one) - size, size)]
        truth = [digit for digit, one in enumerate(later) for _ in range(0, len(one) - size, size)]
        found = KernelMutualSubspace().fit(known, range(10)).predict(unknown)
        assert np.mean(found == truth) > least, size


# -- bad input -----------------------------------------------------------------------------------------------------


def test_what_is_wrong_is_said(rng):
    known, unknown, labels = classes(rng)
    with pytest.raises(NotFittedError, match="no references yet"):
        KernelMutualSubspace().predict(unknown)
    with pytest.raises(ValueError, match="at least two labels"):
        KernelMutualSubspace().fit(known, ["same"] * 4)
    with pytest.raises(ValueError, match="4 sets and 3 labels"):
        KernelMutualSubspace().fit(known, labels[:3])
    with pytest.raises(ValueError, match="list of sets is needed"):
        KernelMutualSubspace().fit(known[0], np.arange(12))
    with pytest.raises(ValueError, match="Got no sets"):
        KernelMutualSubspace().fit([], [])
    with pytest.raises(ValueError, match="Set 1 has images of 5 pixels; 6 are needed"):
        KernelMutualSubspace().fit([known[0], known[1][:, :5]], labels[:2])
    with pytest.raises(ValueError, match="Set 1 has no images"):
        KernelMutualSubspace().fit([known[0], known[1][:0]], labels[:2])
    with pytest.raises(ValueError, match="not an array of numbers"):
        KernelMutualSubspace().fit([known[0], [["a", "b"]]], labels[:2])
    broken = known[1].copy()
    broken[3, 2] = np.nan
    with pytest.raises(ValueError, match="Set 1 contains NaN or infinity in image 3"):
        KernelMutualSubspace().fit([known[0], broken], labels[:2])
    with pytest.raises(ValueError, match="n_angles must be a whole number"):
        KernelMutualSubspace(n_angles=0).fit(known, labels)
    with pytest.raises(ValueError, match="measure must be one of"):
        KernelMutualSubspace(measure="cosine").partial_fit(known[0], "one")


@pytest.mark.parametrize("label", [["one"], np.array([1, 2]), {"one": 1}])
def test_a_label_that_is_a_list_is_told(rng, label):
    """partial_fit takes one set and its label, not lists of them as fit does."""
    known, unknown, labels = classes(rng)
    with pytest.raises(TypeError, match=r"partial_fit\(frames, label\), once for each label"):
        KernelMutualSubspace().partial_fit([known[0]], label)
    model = KernelMutualSubspace(n_components=3).fit(known, labels)
    before = model.similarity(unknown)
    with pytest.raises(TypeError, match="one label, which can be a key of a dictionary"):
        model.partial_fit(known[0], label)
    with pytest.raises(TypeError, match="one label, which can be a key of a dictionary"):
        model.verify(unknown[:1], [label])
    with pytest.raises(TypeError, match="one label, which can be a key of a dictionary"):
        KernelMutualSubspace().fit(known, [label, *labels[1:]])
    assert_array_equal(model.similarity(unknown), before)


def test_sets_that_would_lose_what_they_say_are_refused(rng):
    sets, labels = [rng.standard_normal((6, 5)) for _ in range(3)], [1.0, 2.0, 3.0]
    model = KernelMutualSubspace()
    with pytest.raises(ValueError, match="1 masked values"):
        model.fit([sets[0], sets[1], np.ma.masked_equal(sets[2], sets[2].max())], labels)
    with pytest.raises(ValueError, match="numbers are complex"):
        model.fit([sets[0], sets[1], sets[2] * 1j], labels)
    with pytest.raises(ValueError, match="label is NaN"):
        model.fit(sets, [1.0, 2.0, np.nan])
    with pytest.raises(ValueError, match="label is NaN"):
        model.partial_fit(sets[0], np.float64("nan"))
    for several in (iter(sets), dict(enumerate(sets))):
        with pytest.raises(TypeError, match=r"Pass list\(sets\)"):
            model.fit(several, labels)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_squares_beyond_the_range_of_numbers_are_refused_without_normalization(rng, scale):
    sets = [scale * rng.standard_normal((6, 5)) for _ in range(3)]
    with pytest.raises(ValueError, match="use normalize=True"):
        KernelMutualSubspace(normalize=False).fit(sets, "abc")
    KernelMutualSubspace().fit(sets, "abc")


def test_what_is_wrong_later_is_said(rng):
    known, unknown, labels = classes(rng)
    model = KernelMutualSubspace(n_components=3).fit(known, labels)
    before = model.similarity(unknown)
    with pytest.raises(ValueError, match="Set 1 has images of 2 pixels"):
        model.predict([unknown[0], unknown[1][:, :2]])
    with pytest.raises(ValueError, match="images of 3 pixels"):
        model.partial_fit(np.ones(3), "new")
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(np.full(6, np.nan), labels[0])
    with pytest.raises(ValueError, match="no reference for 'nobody'"):
        model.verify(unknown[:1], ["nobody"])
    with pytest.raises(NotFittedError, match="no threshold yet"):
        model.verify(unknown, labels)
    with pytest.raises(ValueError, match="only one kind"):
        model.roc(unknown, ["nobody"] * 4)
    with pytest.raises(ValueError, match="learned with the kernel"):
        model.similarity([IncrementalKernelPCA(3, gamma=7.0, center=False).fit(unknown[0])])
    assert_array_equal(model.similarity(unknown), before)
    alone = KernelMutualSubspace(threshold=0.5).partial_fit(known[0], "one")
    with pytest.raises(ValueError, match="one reference only"):
        alone.predict(unknown)
    assert alone.verify(unknown[:1], ["one"]).shape == (1,)
    with pytest.raises(TypeError, match="KernelPCA has no partial_fit"):
        KernelMutualSubspace(KernelPCA(3)).partial_fit(known[0], "one")
    with pytest.raises(ValueError, match="spans no subspace"):
        KernelMutualSubspace(kernel="linear").fit([np.zeros((3, 6)), known[1]], [0, 1]).predict(unknown)


# -- real data -----------------------------------------------------------------------------------------------------


def test_faces_incremental_is_as_good_as_batch(data_set):
    faces = data_set("yaleb_32x32")
    sets, labels = [], []
    for person in range(1, 16):
        images = np.random.default_rng(person).permutation(faces["X"][faces["y"] == person])
        sets += np.array_split(images[:, ::2, ::2], 4)
        labels += [person] * 4
    known, unknown = sets[::4], [one for k, one in enumerate(sets) if k % 4]
    truth = [label for k, label in enumerate(labels) if k % 4]
    areas = {}
    for name, more in {
        "batch": {"compression": None, "batch_size": 100},
        "incremental": {"rank": 5, "points_per_component": 2, "batch_size": 5},
    }.items():
        estimator = IncrementalKernelPCA(5, gamma=0.1, center=False, **more)
        model = KernelMutualSubspace(estimator).fit(known, labels[::4])
        areas[name] = model.roc(unknown, truth).area
    assert max(reference.expansion_.n_points for reference in model.references_.values()) <= 12
    assert areas["batch"] > 0.97
    assert abs(areas["batch"] - areas["incremental"]) < 0.01


@pytest.mark.parametrize("names", [["a", "b"], [1, 2], np.array([3, 4]), np.array(["x", "y"])])
def test_saved_references_keep_labels_threshold_and_go_on_learning(names, tmp_path):
    rng = np.random.default_rng(0)
    sets, new = [rng.uniform(size=(8, 6)) for _ in range(2)], rng.uniform(size=(5, 6))
    model = KernelMutualSubspace().fit(sets, names).calibrate(sets, names)
    model.save(tmp_path / "model")
    again = mercer.load(tmp_path / "model")
    assert again.threshold_ == model.threshold_
    assert_array_equal(again.classes_, model.classes_)
    assert_array_equal(again.predict([new]), model.predict([new]))
    for one in (again, model):
        one.partial_fit(new, names[0])
    assert_array_equal(again.similarity([new, sets[1]]), model.similarity([new, sets[1]]))


def test_whole_counts_only():
    with pytest.raises(ValueError, match=r"n_components must be a whole number of at least 1; got 2.0"):
        KernelMutualSubspace(n_components=2.0).partial_fit(np.ones((3, 6)), "one")


@pytest.mark.parametrize("estimator", [None, KernelPCA(5, kernel="rbf", center=False)])
def test_sets_of_few_images_need_no_warning(estimator):
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sets = [rng.uniform(size=(2, 6)), rng.uniform(size=(3, 6))]
        model = KernelMutualSubspace(estimator).fit(sets, "ab")
        found = model.similarity([rows[:1] for rows in sets])
    assert_allclose(np.diag(found), 1.0)  # an image lies in the subspace of its own set
    assert (found[[0, 1], [1, 0]] < 0.995).all()


@pytest.mark.parametrize("labels", [[("anna", 1), ("bob", 2)], [1, "unknown"], ["anna", "bob"], [3, 5]])
def test_labels_come_back_as_they_were_given(labels, rng):
    sets = [rng.normal(size=(20, 16)), rng.normal(size=(20, 16)) + np.arange(16)]
    model = KernelMutualSubspace(threshold=0.5).fit(sets, labels)
    assert model.classes_.shape == model.predict(sets).shape == (2,)
    assert model.predict(sets).tolist() == labels
    assert model.verify(sets, model.predict(sets)).all()
