"""IKPCA-RS exactly as printed [Table I]: the update (8) to (26), and (27) to (35) after it. Gaussian kernel only.

Mercer's version differs in three places: it takes points of the library where they are better than pre-images, it makes
the basis orthonormal, and it keeps the part that (35) drops. Equations (32) to (34) as printed do not orthogonalise:
with M_o = Q D Q^T, (33) is P = D^(1/2) Q^T, so that (34) returns Y sigma itself; normalising the columns of P only
scales the vectors to length one.
"""

from typing import Any

import numpy as np

from mercer import Expansion, KernelPCA
from papers.chin2007._preimages import Library, best_coef, gaussian, in_turn

_RANK = 1e-12  # share of the largest eigenvalue of (23) below which a direction is rounding


class Letter:
    """IKPCA-RS with r components, p pre-images for each of them and for the mean."""

    def __init__(self, r: int, p: int, gamma: float) -> None:
        self.r, self.p, self.gamma, self.size = r, p, gamma, (r + 1) * p

    def start(self, X: Any) -> "Letter":
        """Start with batch kernel PCA of the first (r + 1) p rows."""
        model = KernelPCA(self.r, kernel="rbf", gamma=self.gamma).fit(X)
        found = model.expansion_
        self.kernel, self.points, self.seen = found.kernel, np.array(X), len(X)
        self.coef, self.sigma = np.array(found.coef), np.sqrt(found.eigenvalues)
        self.nu = np.full(len(X), 1.0 / len(X))
        return self

    def update(self, C: Any) -> "Letter":
        """Learn new rows, then compress the library."""
        i, n, seen = len(C), len(self.points), self.seen
        points = np.vstack([self.points, C])
        M = gaussian(points, points, self.gamma)
        A, nu = np.pad(self.coef, ((0, 0), (0, i))), np.pad(self.nu, (0, i))
        omega = np.pad(np.full(i, 1.0 / i), (n, 0))  # (8)
        new = np.eye(i, n + i, n) - omega  # (10)
        E = np.vstack([new, np.sqrt(seen * i / (seen + i)) * (nu - omega)])
        L = A @ M @ E.T  # (20)
        H = E - L.T @ A  # (22)
        values, Q = np.linalg.eigh(H @ M @ H.T)  # (23)
        kept = values > _RANK * values[-1]
        values, Q = values[kept], Q[:, kept]
        J, K = (Q.T @ H) / np.sqrt(values)[:, None], np.sqrt(values)[:, None] * Q.T  # (24), (25)
        F = np.block([[np.diag(self.sigma), L], [np.zeros((len(K), len(A))), K]])  # (12)
        turn, sigma, _ = np.linalg.svd(F, full_matrices=False)
        self.coef, self.sigma = turn[:, : self.r].T @ np.vstack([A, J]), sigma[: self.r]  # (26), (18)
        self.nu, self.seen, self.points = (seen * nu + i * omega) / (seen + i), seen + i, points  # (9)
        if len(points) > self.size:
            self._compress(M)
        return self

    def _compress(self, M: Any) -> None:
        library = Library(self.points, M, np.vstack([self.coef, self.nu]), self.gamma)
        chosen = in_turn(library, self.p)
        made = best_coef(library, chosen)  # (31)
        own = gaussian(chosen, chosen, self.gamma)
        basis = made[:-1] / np.sqrt(np.einsum("ij,ij->i", made[:-1] @ own, made[:-1]))[:, None]  # (34): see above
        products = basis @ gaussian(chosen, self.points, self.gamma) @ self.coef.T
        self.sigma = np.abs(np.diagonal(products)) * self.sigma  # (35)
        self.points, self.coef, self.nu = chosen, basis, made[-1]

    @property
    def expansion_(self) -> Expansion:
        """The model as an object of Mercer."""
        K = gaussian(self.points, self.points, self.gamma)
        return Expansion(
            points=self.points,
            coef=self.coef,
            offset=self.coef @ K @ self.nu,
            eigenvalues=self.sigma**2,
            kernel=self.kernel,
            n_seen=self.seen,
            gram=self.coef @ K @ self.coef.T,
            nu=self.nu,
            mean_norm=float(self.nu @ K @ self.nu),
        )
