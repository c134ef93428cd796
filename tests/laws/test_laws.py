"""Laws that every public estimator obeys; a new one is found by its name, without being listed here."""

import inspect
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import registry
from mercer.errors import NotSaveableError
from public_estimators import ANSWERS, ESTIMATORS, LEARN, answers, learned, make

DECOMPOSITIONS = {name: cls for name, cls in ESTIMATORS.items() if hasattr(cls, "reconstruction_error")}
IN_TIME = {"ProcessMonitor"}
STREAMS = {name: cls for name, cls in DECOMPOSITIONS.items() if hasattr(cls, "partial_fit")}

every_estimator = pytest.mark.parametrize("cls", ESTIMATORS.values(), ids=ESTIMATORS)
every_decomposition = pytest.mark.parametrize("cls", DECOMPOSITIONS.values(), ids=DECOMPOSITIONS)


@pytest.fixture
def X(rng) -> np.ndarray:
    return rng.standard_normal((60, 5)) * [3, 2, 1, 1, 1] + 1


@pytest.fixture
def new(rng) -> np.ndarray:
    return rng.standard_normal((11, 5)) + 1


def assert_same(found, expected) -> None:
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        assert np.array_equal(found[name], values), name


def test_the_search_finds_the_estimators():
    assert set(LEARN) == set(ANSWERS) <= set(ESTIMATORS)
    assert "KernelPCA" in ESTIMATORS
    assert set(registry.ESTIMATORS) == set(ESTIMATORS)
    assert set(registry.DECOMPOSITIONS) == set(DECOMPOSITIONS)


@every_estimator
def test_it_is_a_public_name_that_can_be_saved(cls):
    assert getattr(mercer, cls.__name__) is cls
    assert registry.ESTIMATORS[cls.__name__] == cls.__module__


@every_estimator
def test_its_first_line_tells_a_user_what_it_is(cls):
    first = inspect.getdoc(cls).splitlines()[0]
    assert first.endswith((".", "]."))
    assert len(first) < 115


@every_decomposition
def test_it_tells_how_many_components_there_are(cls, X, new):
    assert not hasattr(make(cls), "n_components_")
    for rows in (X, X[:2]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of fewer components than asked for
            model = make(cls).fit(rows)
        assert model.n_components_ == model.transform(new).shape[1]
    assert "n_components_ : int" in inspect.getdoc(cls)


@every_estimator
def test_parameters_are_kept_as_given_and_clones_are_equal(cls, X):
    model = make(cls)
    before = model.get_params()
    learned(model, X)
    assert model.get_params() == before
    assert clone(model).get_params() == before
    assert repr(clone(model)) == repr(model)
    assert not [name for name in vars(make(cls)) if name.endswith("_")]


@every_estimator
def test_fit_returns_the_model_and_leaves_the_data_alone(cls, X, new):
    kept, kept_new = X.copy(), new.copy()
    model = make(cls)
    assert learned(model, X) is model
    assert answers(model, new)
    assert np.array_equal(X, kept)
    assert np.array_equal(new, kept_new)


@every_estimator
def test_read_only_data_are_enough(cls, X):
    expected = learned(make(cls), X.copy())
    X.flags.writeable = False
    assert_same(answers(learned(make(cls), X), X), answers(expected, X))


@every_estimator
def test_two_fits_with_the_same_seed_are_equal_to_the_last_bit(cls, X, new):
    assert_same(*(answers(learned(make(cls), X), new) for _ in range(2)))


@every_estimator
def test_the_global_random_state_is_left_alone(cls, X):
    np.random.seed(5)  # noqa: NPY002 - the legacy state is the point
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    answers(learned(make(cls, random_state=None), X), X)
    learned(make(cls), X)
    assert np.array_equal(np.random.get_state()[1], before)  # noqa: NPY002


@every_estimator
def test_nothing_is_printed(cls, X, capfd):
    learned(make(cls), X)
    assert capfd.readouterr() == ("", "")


@every_estimator
def test_an_ordinary_fit_does_not_warn(cls, X):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        learned(make(cls), X)
    assert [str(warning.message) for warning in caught] == []


@every_decomposition
def test_before_fit_nothing_works(cls, new):
    for action in (
        lambda m: m.transform(new),
        lambda m: m.reconstruction_error(new),
        lambda m: m.inverse_transform(new[:, :3]),
        lambda m: m.save("never"),
    ):
        with pytest.raises(NotFittedError):
            action(make(cls))


@every_decomposition
def test_fit_transform_is_fit_then_transform(cls, X):
    assert_allclose(make(cls).fit_transform(X), make(cls).fit(X).transform(X), atol=1e-7)


@every_decomposition
def test_rows_are_projected_one_by_one(cls, X, new):
    model = make(cls).fit(X)
    together = model.transform(new)
    assert together.shape == (11, model.expansion_.n_components)
    alone = np.vstack([model.transform(new[i : i + 1]) for i in range(11)])
    assert_allclose(alone, together, atol=1e-10 * max(1, np.abs(together).max()))
    some = model.reconstruction_error(new[[4, 4, 0]])
    assert_allclose(some, model.reconstruction_error(new)[[4, 4, 0]], atol=1e-10)


@every_decomposition
def test_the_model_is_its_expansion(cls, X, new):
    """Scores are coef k(points, x) - offset; the error is what they leave of |phi(x) - mean|^2."""
    model = make(cls).fit(X)
    expansion = model.expansion_
    K, K_new = (np.asarray(expansion.kernel(Z, expansion.points)) for Z in (expansion.points, new))
    assert_allclose(model.transform(new), K_new @ expansion.coef.T - expansion.offset, atol=1e-9)
    assert_allclose(expansion.gram, expansion.coef @ K @ expansion.coef.T, atol=1e-8)
    nu = np.zeros(len(K)) if expansion.nu is None else expansion.nu
    assert_allclose(expansion.offset, expansion.coef @ K @ nu, atol=1e-8)
    assert expansion.mean_norm == pytest.approx(nu @ K @ nu, abs=1e-9)
    norms = expansion.kernel.diagonal(new) - 2 * K_new @ nu + nu @ K @ nu
    y = model.transform(new)
    explained = np.einsum("ij,ij->i", y @ np.linalg.pinv(expansion.gram), y)
    assert_allclose(model.reconstruction_error(new), np.maximum(norms - explained, 0), atol=1e-8)


@every_decomposition
def test_errors_are_one_number_a_row_and_at_most_the_whole(cls, X, new):
    model = make(cls).fit(X)
    error = model.reconstruction_error(new)
    assert error.shape == (11,)
    assert (error >= 0).all()
    assert (error <= model.expansion_.project_with_norm(new)[1] + 1e-9).all()


@every_decomposition
def test_eigenvalues_and_their_shares(cls, X):
    model = make(cls).fit(X)
    values = model.eigenvalues_
    assert (values >= 0).all()
    if not hasattr(model, "signs_"):  # components of the L1 norm stay in order of extraction
        assert (np.diff(values) <= 1e-12 * values.max()).all()
    assert model.n_samples_seen_ == 60
    assert model.n_features_in_ == 5
    assert_allclose(model.explained_variance_, values / 59, rtol=1e-12)
    ratios = model.explained_variance_ratio_
    assert 0 < ratios.sum() <= 1 + 1e-9
    assert_allclose(ratios / ratios[0], values / values[0], rtol=1e-9)


@every_decomposition
def test_float32_in_float32_out(cls, X, new):
    double = make(cls).fit(X)
    single = make(cls).fit(X.astype(np.float32))
    assert single.transform(new.astype(np.float32)).dtype == np.float32
    assert make(cls).fit_transform(X.astype(np.float32)).dtype == np.float32
    assert double.transform(new).dtype == np.float64
    assert_allclose(single.eigenvalues_, double.eigenvalues_, rtol=1e-2)


@every_decomposition
def test_lists_frames_and_other_orders_give_the_same(cls, X, new):
    expected = make(cls).fit(X).transform(new)
    for convert in (np.ndarray.tolist, np.asfortranarray, lambda Z: np.repeat(Z, 2, axis=1)[:, ::2]):
        assert_allclose(make(cls).fit(convert(X)).transform(convert(new)), expected, atol=1e-9)
    frame = make(cls).fit(pd.DataFrame(X, columns=list("abcde")))
    assert_allclose(frame.transform(pd.DataFrame(new, columns=list("abcde"))), expected, atol=1e-9)


@every_decomposition
def test_names_and_frames_out(cls, X, new):
    model = make(cls).set_output(transform="pandas").fit(X)
    scores = model.transform(pd.DataFrame(new, index=np.arange(50, 61)).to_numpy())
    expected = [f"{cls.__name__.lower()}{i}" for i in range(model.expansion_.n_components)]
    assert list(scores.columns) == list(model.get_feature_names_out()) == expected
    assert list(make(cls).set_output(transform="pandas").fit_transform(X).columns) == expected


@every_estimator
def test_pickled_models_give_the_same_bits(cls, X, new):
    model = learned(make(cls), X)
    assert_same(answers(pickle.loads(pickle.dumps(model)), new), answers(model, new))


@every_estimator
def test_saved_models_give_the_same_bits(cls, X, new, tmp_path):
    model = learned(make(cls), X)
    model.save(tmp_path / "model")
    again = mercer.load(tmp_path / "model")
    assert type(again) is cls
    assert again.get_params() == model.get_params()
    assert_same(answers(again, new), answers(model, new))
    # a loaded model is a whole one: it can be saved again, cloned and fitted
    again.save(tmp_path / "second")
    assert (tmp_path / "second").read_bytes() == (tmp_path / "model").read_bytes()
    learned(clone(again), X)


@every_decomposition
def test_saved_models_keep_the_container_of_their_scores(cls, X, new, tmp_path):
    model = make(cls).set_output(transform="pandas").fit(X)
    model.save(tmp_path / "model")
    pd.testing.assert_frame_equal(mercer.load(tmp_path / "model").transform(new), model.transform(new))
    model.set_output(transform="default").save(tmp_path / "arrays")
    assert isinstance(mercer.load(tmp_path / "arrays").transform(new), np.ndarray)


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
@every_decomposition
def test_models_of_rows_in_columnwise_memory_are_saved_bit_by_bit(cls, kernel, rng, tmp_path):
    X = pd.DataFrame(rng.standard_normal((300, 7))).to_numpy()
    assert X.flags.f_contiguous
    model = make(cls, kernel=kernel).fit(X)
    model.save(tmp_path / "model")
    assert_same(answers(mercer.load(tmp_path / "model"), X[:77]), answers(model, X[:77]))


@every_estimator
def test_before_it_has_learned_it_cannot_be_saved(cls, tmp_path):
    with pytest.raises(NotFittedError):
        make(cls).save(tmp_path / "never")
    assert not list(tmp_path.iterdir())


def product(x, y) -> float:
    return float(np.dot(x, y))


@every_estimator
def test_a_function_as_kernel_is_refused_at_save(cls, X, tmp_path):
    if "kernel" not in inspect.signature(cls).parameters:
        pytest.skip("has no kernel")
    model = learned(make(cls, kernel=product), X)
    with pytest.raises(NotSaveableError):
        model.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


@every_decomposition
def test_scores_lead_back_to_rows(cls, X):
    model = make(cls, preimage="auto").fit(X)
    scores = model.transform(X[:4])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, residual = model.inverse_transform(scores, return_residual=True)
    assert found.shape == (4, 5)
    assert residual.shape == (4,)
    assert (residual >= 0).all()
    # at least as near as the mean row of the data would be
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mean_scores = model.transform(np.tile(X.mean(axis=0), (4, 1)))
    assert ((model.transform(found) - scores) ** 2).sum() <= ((mean_scores - scores) ** 2).sum() + 1e-9


@pytest.mark.parametrize("cls", STREAMS.values(), ids=STREAMS)
def test_what_is_seen_in_parts_is_counted(cls, X):
    model = make(cls).partial_fit(X[:25]).partial_fit(X[25:26]).partial_fit(X[26:])
    assert model.n_samples_seen_ == 60
    assert np.isfinite(model.transform(X)).all()


def order_matters(estimator) -> dict[str, str]:
    """The checks that ask for verdicts on single rows of those whose rows are in the order of time."""
    if type(estimator).__name__ not in IN_TIME:
        return {}
    asked = ("check_methods_subset_invariance", "check_methods_sample_order_invariance")
    return dict.fromkeys(asked, "a verdict depends on the rows before")


@parametrize_with_checks(
    [cls() for name, cls in ESTIMATORS.items() if name not in LEARN], expected_failed_checks=order_matters
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)
