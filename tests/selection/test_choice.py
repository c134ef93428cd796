"""What `select` chooses: a kernel where it pays, the rank of rows near a plane, and the same for equal problems."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mercer
from selection_data import curve, low_rank

PURPOSES = ("reconstruction", "denoising", "features", "outliers")


def chosen(found) -> tuple:
    table = found.table
    row = table[table["chosen"]].iloc[0]
    return row["kernel"], row["width"], row["n_components"], row["standardize"]


def same(a, b) -> bool:
    return all(x == y or (x != x and y != y) for x, y in zip(chosen(a), chosen(b), strict=True))


@pytest.mark.parametrize("purpose", PURPOSES[:3])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_noisy_curve_needs_a_gaussian_kernel(purpose, seed):
    found = mercer.select(curve(seed=seed), purpose, random_state=0)
    assert chosen(found)[0] == "rbf"
    assert "The best linear PCA" in found.why


@pytest.mark.parametrize("rank", [1, 2, 4, 8])
def test_rows_near_a_plane_need_none_and_as_many_components_as_it_has(rank):
    found = mercer.select(low_rank(rank=rank, d=20), random_state=0)
    assert chosen(found)[0] == "linear"
    assert chosen(found)[2] == rank
    assert "A kernel does not help here: linear PCA explains the held-out rows as well as any." in found.why


def test_for_outliers_near_a_plane_the_linear_kernel_is_best():
    found = mercer.select(low_rank(), "outliers", contaminated=False, random_state=0)
    assert chosen(found)[0] == "linear"
    assert "A kernel does not help here: linear PCA finds them as well as any." in found.why


def test_too_many_components_make_the_score_worse():
    table = mercer.select(low_rank(rank=4, noise=0.5, d=40), random_state=0).table
    linear = table[table["kernel"] == "linear"].set_index("n_components")["score"]
    assert linear[4] == linear.max()
    assert linear[1] < linear[2] < linear[4] > linear[8] > linear[16] > linear[32]


def test_what_predicts_hidden_cells_removes_noise():
    clean = curve(300, noise=0.0)
    noisy = clean + 0.3 * np.random.default_rng(5).standard_normal(clean.shape)
    found = mercer.select(noisy, "denoising", random_state=0)
    errors = {}
    for kind, model in (("selected", found.estimator), ("default", mercer.KernelPCA(4, kernel="rbf", gamma="median"))):
        model = model.set_params(preimage="auto").fit(noisy)
        errors[kind] = np.mean((model.inverse_transform(model.transform(noisy)) - clean) ** 2)
    assert errors["selected"] < 0.6 * errors["default"]


@pytest.mark.parametrize(("level", "told"), [(0.05, False), (1.0, True)])
def test_denoising_tells_how_much_it_takes_for_noise(level, told):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((200, 1)) @ rng.standard_normal((1, 8)) + level * rng.standard_normal((200, 8))
    found = mercer.select(rows, "denoising", random_state=0)
    assert ("count as noise" in found.why) == told
    assert "count as noise" not in mercer.select(rows, "reconstruction", random_state=0).why


@pytest.mark.parametrize("purpose", PURPOSES)
def test_the_same_seed_gives_the_same_result(purpose):
    X = curve(80)
    a, b = (mercer.select(X, purpose, random_state=3) for _ in range(2))
    assert a.table.equals(b.table)
    assert a.why == b.why
    c = mercer.select(X, purpose, random_state=np.random.RandomState(3))
    assert a.table.equals(c.table)


@pytest.mark.parametrize("purpose", ["reconstruction", "features"])
@pytest.mark.parametrize("make", [curve, low_rank])
@pytest.mark.parametrize(
    "change", [lambda X: X + 1000.0, lambda X: 3.7 * X, lambda X: 1e150 * X, lambda X: 1e-150 * X, lambda X: X - 1e6]
)
def test_neither_shift_nor_scale_change_the_choice(purpose, make, change):
    X = make(120)
    assert same(mercer.select(X, purpose, random_state=0), mercer.select(change(X), purpose, random_state=0))


@pytest.mark.parametrize("factor", [3.7, 1e150, 1e-150])
def test_for_outliers_the_scale_does_not_change_the_choice(factor):
    X = curve(80)
    a, b = (mercer.select(rows, "outliers", random_state=0) for rows in (X, factor * X))
    assert same(a, b)


@pytest.mark.parametrize("make", [curve, low_rank])
def test_the_order_of_rows_and_columns_changes_hardly_anything(make):
    # other rows and cells are hidden, so scores are not equal; the choice of such clear cases is
    X = make(200)
    reversed_rows, reversed_columns = X[::-1], np.ascontiguousarray(X[:, ::-1])
    first = mercer.select(X, random_state=0)
    for other in (reversed_rows, reversed_columns):
        found = mercer.select(other, random_state=0)
        assert chosen(found)[:2] == chosen(first)[:2] or chosen(found)[0] == chosen(first)[0] == "linear"
        assert abs(found.table["score"].max() - first.table["score"].max()) < 0.03


def test_gamma_is_that_of_the_width_and_of_all_rows():
    X = curve(150)
    found = mercer.select(X, random_state=0, candidates={"kernel": ["rbf"], "width": [0.5, 2]})
    median = mercer.KernelPCA(1, kernel="rbf", gamma="median").fit(X).gamma_
    assert_allclose(found.table["gamma"], found.table["width"] * median, rtol=1e-9)
    assert found.estimator.gamma == found.table["gamma"][0]


@pytest.mark.parametrize("purpose", PURPOSES)
@pytest.mark.parametrize(
    "change",
    [
        lambda X: X.astype(np.float32),
        lambda X: (10 * X).astype(int),
        lambda X: np.column_stack([X, np.ones(len(X))]),  # a constant column
        lambda X: np.vstack([X, X[:30]]),  # repeated rows
        lambda X: np.repeat(X[:20], 4, axis=0),
        lambda X: X[:20],
        lambda X: np.asfortranarray(X),
    ],
    ids=["float32", "integer", "constant column", "repeated rows", "four of each", "twenty rows", "fortran"],
)
def test_difficult_rows_are_answered_without_warnings_and_left_as_they_are(purpose, change, recwarn):
    X = change(curve(70))
    before = X.copy()
    found = mercer.select(X, purpose, random_state=0)
    assert not recwarn.list
    assert np.isfinite(found.table["score"]).all()
    assert found.table["score"].max() <= 1 + 1e-9
    assert_array_equal(X, before)
    fitted = found.estimator.fit(X)  # a detector may warn here, for example of few rows
    assert fitted.n_features_in_ == X.shape[1]


@pytest.mark.parametrize("purpose", ["reconstruction", "denoising", "features"])
def test_noise_that_comes_twice_is_not_predicted(purpose):
    noise = np.random.default_rng(0).normal(size=(150, 8))
    found = mercer.select(np.vstack([noise, noise]), purpose, random_state=0)
    assert found.table["score"].max() < 0.05
    assert found.n_rows == 150
    with pytest.raises(ValueError, match="at least 20 different rows are needed to compare settings; got 6 among 72"):
        mercer.select(np.repeat(noise[:6], 12, axis=0), purpose)


def test_for_outliers_six_different_rows_are_compared_with_their_copies(recwarn):
    found = mercer.select(np.repeat(curve(6), 12, axis=0), "outliers", random_state=0)
    assert found.n_rows == 72
    assert np.isfinite(found.table["score"]).all()
    assert not recwarn.list


def test_a_constant_column_changes_nothing():
    X = curve(100)
    grid = {"kernel": ["rbf"], "width": [4], "n_components": [16]}
    with_constant = mercer.select(np.column_stack([X, np.full(100, 7.0)]), random_state=0, candidates=grid)
    assert chosen(with_constant)[0] == "rbf"
    assert_allclose(with_constant.table["gamma"], mercer.select(X, random_state=0, candidates=grid).table["gamma"])


def test_cells_of_constant_columns_are_not_counted_as_known():
    # three of 16 cells are hidden, all of them varying ones in some rows: five known ones remain
    rows = np.column_stack([np.random.default_rng(0).normal(size=(150, 8)), np.ones((150, 8))])
    found = mercer.select(rows, "denoising", random_state=0, candidates={"kernel": ["linear"]})
    assert found.table["n_components"].max() == 5


def test_for_outliers_one_column_is_enough():
    found = mercer.select(curve(60)[:, :1], "outliers", random_state=0)
    assert found.estimator.fit(curve(60)[:, :1]).predict([[50.0]])[0] == -1
