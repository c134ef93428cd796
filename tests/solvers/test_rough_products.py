"""Eigenpairs by one exact pass and many of less precision: as exact as with exact passes only, or done again."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning

from mercer import KernelPCA
from mercer.kernels.distance import RBF
from mercer.kernels.tiles import SymmetricTiles
from mercer.solvers.exact import fit
from mercer.solvers.exact.eigen import EigenOptions, solve


@dataclass
class Counted:
    """An operator that is a matrix, and counts its products."""

    K: np.ndarray
    dtype: type = np.float64
    largest_entry: float = 1.0
    products: int = 0

    @property
    def shape(self) -> tuple[int, int]:
        return self.K.shape

    def matmul(self, V: np.ndarray) -> np.ndarray:
        self.products += 1
        return self.K @ V


def matrix(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    basis = np.linalg.qr(rng.standard_normal((len(values), len(values))))[0]
    return (basis * values) @ basis.T


def disturbed(K: np.ndarray, size: float, rng: np.random.Generator) -> np.ndarray:
    E = rng.standard_normal(K.shape)
    return K + size * (E + E.T) / np.linalg.norm(E + E.T, 2)


@pytest.mark.parametrize("costly", [True, False])
@pytest.mark.parametrize("decay", [0.7, 0.95])
def test_one_exact_pass_is_enough_where_the_rough_operator_is_near(decay, costly, rng):
    K = matrix(100.0 * decay ** np.arange(400), rng)
    exact, rough = Counted(K), Counted(disturbed(K, 1e-5, rng), np.float32)
    found = solve(exact, 5, EigenOptions("krylov", costly=costly, rough=rough))
    assert exact.products == 1
    assert rough.products > 2
    assert found.n_iter == exact.products + rough.products
    assert_allclose(found.values, np.linalg.eigvalsh(K)[::-1][:5], rtol=1e-12)
    residuals = np.linalg.norm(K @ found.vectors - found.vectors * found.values, axis=0)
    assert residuals.max() <= 1e-9 * found.values[0]


@pytest.mark.parametrize("costly", [True, False])
@pytest.mark.parametrize("size", [1e-3, 1.0, 50.0])
def test_a_rough_operator_that_is_not_near_costs_passes_but_no_digits(size, costly, rng):
    K = matrix(100.0 * 0.9 ** np.arange(400), rng)
    exact, rough = Counted(K), Counted(disturbed(K, size, rng), np.float32)
    found = solve(exact, 5, EigenOptions("krylov", costly=costly, rough=rough))
    assert_allclose(found.values, np.linalg.eigvalsh(K)[::-1][:5], rtol=1e-12)
    residuals = np.linalg.norm(K @ found.vectors - found.vectors * found.values, axis=0)
    assert residuals.max() <= 1.1e-9 * found.values[0]


def test_equal_eigenvalues_are_all_found(rng):
    K = matrix(np.concatenate([np.full(12, 100.0), 50.0 * 0.8 ** np.arange(388)]), rng)
    exact, rough = Counted(K), Counted(disturbed(K, 1e-5, rng), np.float32)
    found = solve(exact, 14, EigenOptions("krylov", costly=True, rough=rough))
    assert_allclose(found.values, np.linalg.eigvalsh(K)[::-1][:14], rtol=1e-11)


@pytest.mark.parametrize("gamma", [0.3, 0.03, 0.003])
def test_kernel_values_that_are_computed_again_are_needed_once_in_float64(gamma, rng, monkeypatch):
    X = rng.standard_normal((1500, 10)) * np.linspace(1.5, 0.2, 10)
    passes = []
    products = SymmetricTiles.products
    monkeypatch.setattr(
        SymmetricTiles, "products", lambda self, given: passes.append(self.dtype) or products(self, given)
    )
    with config_context(working_memory=1):
        model = KernelPCA(6, kernel="rbf", gamma=gamma, eigen_solver="krylov").fit(X)
    exact = KernelPCA(6, kernel="rbf", gamma=gamma, eigen_solver="dense").fit(X)
    assert np.float32 not in passes or passes.count(np.float64) == 1
    assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-10)
    assert_allclose(np.abs(model.transform(X)), np.abs(exact.transform(X)), atol=1e-7 * np.sqrt(exact.eigenvalues_[0]))


@pytest.fixture
def halves_at_any_size(monkeypatch):
    monkeypatch.setattr(fit, "_MANY_ROWS", 1)


@pytest.mark.usefixtures("halves_at_any_size")
def test_tiles_that_would_fit_are_kept_in_float32_only(rng, monkeypatch):
    X = rng.standard_normal((1500, 10)) * np.linspace(1.5, 0.2, 10)
    kept = []
    finished = fit.finished
    monkeypatch.setattr(
        fit, "finished", lambda kernel, points, op, *rest: kept.append(op.source) or finished(kernel, points, op, *rest)
    )
    model = KernelPCA(6, kernel="rbf", gamma=0.1, eigen_solver="krylov").fit(X)
    exact = KernelPCA(6, kernel="rbf", gamma=0.1, eigen_solver="dense").fit(X)
    assert kept[0].dtype == np.float64
    assert not kept[0]._tiles
    assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-10)


@pytest.mark.usefixtures("halves_at_any_size")
def test_a_share_of_the_variance_is_found_with_tiles_in_float32(rng):
    X = rng.standard_normal((1500, 10)) * np.linspace(1.5, 0.2, 10)
    model = KernelPCA(0.7, kernel="rbf", gamma=0.1, eigen_solver="krylov").fit(X)
    exact = KernelPCA(0.7, kernel="rbf", gamma=0.1, eigen_solver="dense").fit(X)
    assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-10)


@pytest.mark.usefixtures("halves_at_any_size")
def test_a_limit_of_steps_counts_exact_products_only(rng):
    X = rng.standard_normal((1500, 10))
    with pytest.warns(ConvergenceWarning):
        model = KernelPCA(6, kernel="rbf", gamma=0.1, eigen_solver="krylov", max_iter=2).fit(X)
    assert model.n_iter_ == 2


def test_tiles_are_kept_from_the_visit_that_is_asked_for(rng):
    X = rng.standard_normal((700, 3))
    tiles = SymmetricTiles(RBF(0.5), X, np.float64, 10**9)
    tiles.unkept = 1
    first = tiles.product(np.eye(700, 2))
    assert not tiles._tiles
    second = tiles.product(np.eye(700, 2))
    assert len(tiles._tiles) == len(tiles.pairs)
    assert_allclose(first, second, rtol=0, atol=1e-15)
