"""Speed of the Hebbian kernel algorithms: steps against a naive loop, passes against products, growth with l."""

import numpy as np

from benchmarks.measure import best_of_rounds, row
from mercer import HebbianKernelPCA
from mercer.engine.gains import EigenvalueGain, MetaGain
from mercer.kernels.functions import RBF
from mercer.kernels.operator import CentredOperator
from mercer.kernels.tiles import SymmetricTiles, available_threads, one_blas_thread
from mercer.solvers.exact import make_operator
from mercer.solvers.hebbian import run_pass, start_state
from mercer.solvers.visits import VisitTiles


def naive_smd(A, AK, K, gain, eigenvalues, steps) -> None:
    """KHA-SMD as the paper writes it, one sample after another, in numpy (Algorithm 1)."""
    r, l = A.shape
    A, AK, B, rho = A.copy(), AK.copy(), np.zeros_like(A), np.ones(r)
    base = gain.base(eigenvalues)
    for t in range(1, steps + 1):
        p = (t - 1) % l
        k = K[p]
        y = A @ k
        L = np.tril(np.outer(y, y))
        gamma = -L @ A
        gamma[:, p] += y
        gamma_K = np.outer(y, k) - L @ AK
        rho += gain.rate * np.einsum("ij,ij->i", gamma_K, B)
        D = (np.exp(rho) * base * l / (t + l))[:, None]
        u = B @ k
        d_gamma = -L @ B - np.tril(np.outer(u, y) + np.outer(y, u)) @ A
        d_gamma[:, p] += u
        B = gain.decay * B + D * (gamma + gain.decay * d_gamma)
        A = A + D * gamma
        AK = AK + D * gamma_K


def data(l: int, d: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.standard_normal((l, d)) @ rng.standard_normal((d, d)) / d


def against_the_loop(l: int = 4000, r: int = 16, steps: int = 200) -> None:
    X = data(l, 50)
    tiles = VisitTiles(make_operator(RBF(0.5).bind(X), X, np.float64))
    K = tiles.dense()
    A = np.random.default_rng(1).standard_normal((r, l)) / np.sqrt(r * l)
    AK, gain = A @ K, MetaGain(0.05, 0.1, 0.99)

    def ours() -> None:
        run_pass(start_state(A.copy(), AK.copy(), gain), tiles, np.arange(l), gain, 128)

    eigenvalues = start_state(A, AK, gain).eigenvalues
    calls = {"naive": lambda: naive_smd(A, AK, K, gain, eigenvalues, steps), "ours": ours}
    times = {name: seconds for name, (seconds, _) in best_of_rounds(calls).items()}
    naive, blocked = times["naive"] / steps * 1e6, times["ours"] / l * 1e6
    row("KHA-SMD step, us", f"l={l} r={r}", naive, blocked, naive / blocked)


def against_a_product(l: int = 8000, d: int = 256, r: int = 16) -> None:
    X = data(l, d)
    kernel = RBF(0.5).bind(X)
    operator = CentredOperator(SymmetricTiles(kernel, X, np.float64, 0, available_threads()), kernel.diagonal(X))
    operator.row_means  # noqa: B018 - part of the operator, not of a pass
    tiles = VisitTiles(operator, hold=False)
    A = np.random.default_rng(1).standard_normal((r, l)) / np.sqrt(r * l)
    AK = operator.matmul(np.ascontiguousarray(A.T)).T
    V = np.ascontiguousarray(A.T)
    for gain in (EigenvalueGain(0.05), MetaGain(0.05, 0.1, 0.99)):
        calls = {
            "product": lambda: operator.matmul(V),
            "pass": lambda gain=gain: one_pass(start_state(A.copy(), AK.copy(), gain), tiles, gain),
        }
        times = {name: seconds for name, (seconds, _) in best_of_rounds(calls, 4).items()}
        name = "KHA-SMD" if isinstance(gain, MetaGain) else "KHA/et"
        row("pass / product", name, times["product"], times["pass"], times["pass"] / times["product"])


def one_pass(state, tiles: VisitTiles, gain) -> None:
    """A pass as a fit makes it."""
    with one_blas_thread():
        run_pass(state, tiles, np.random.default_rng(0).permutation(tiles.shape[0]), gain, 128)


def exponents() -> None:
    on_landmarks = {"landmarks": 256, "selection": "uniform"}
    cases = (("all rows", (2000, 4000, 8000, 12_000), {}), ("256 landmarks", (8000, 16_000, 32_000), on_landmarks))
    for label, sizes, extra in cases:
        seconds = []
        for l in sizes:
            model = HebbianKernelPCA(16, gamma=0.5, max_iter=8, tol=0, random_state=0, **extra).fit(data(int(l), 50))
            seconds.append(np.median(np.diff(model.history_["seconds"])))
        slope = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
        row("growth a pass", label, *[float(s) for s in seconds], f"l^{slope:.2f}")


def main() -> None:
    row("", "", "naive / product", "ours", "ratio")
    against_the_loop()
    against_a_product()
    exponents()


if __name__ == "__main__":
    main()
