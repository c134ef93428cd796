"""The steps of Algorithm 1 to its first component; `L1KernelPCA` keeps only the last one."""

from dataclasses import dataclass
from typing import Any

import numpy as np

_ROUNDING = 1e-14


@dataclass(frozen=True)
class Path:
    """Sign vectors c^0, c^1, ..., the norms of x^0, x^1, ..., and the factors rho(c^k) of Theorem 2."""

    signs: Any  # (steps, n)
    norms: Any  # (steps + 1,)
    factors: Any  # (steps,)

    @property
    def gaps(self) -> Any:
        """Return |x^k| - |x*|."""
        return self.norms - self.norms[-1]

    @property
    def bounds(self) -> Any:
        """Return the right-hand side of (25), which is never below `gaps`."""
        return self.gaps[0] * np.concatenate([[1.0], np.cumprod(self.factors)])


def signs(values: Any) -> Any:
    """Return signs; that of zero is +1."""
    return np.where(values < 0, -1.0, 1.0)


def start(K: Any) -> int:
    """Return the row whose direction has the largest objective (19)."""
    return int(np.argmax(np.abs(K).sum(axis=0) / np.sqrt(np.diag(K))))


def path(K: Any, weights: Any) -> Path:
    """Run Algorithm 1 from x^0, the multiple of sum_i w_i Phi(a_i) that lies on the boundary of P.

    x^(k+1) is y^k / sum_i |Phi(a_i)' y^k| as in (17). The paper's (18) has c'Kc instead of that sum; the two are equal
    only at the end.
    """
    found: list[Any] = []
    factors: list[float] = []
    v = K @ weights
    norms = [float(np.sqrt(weights @ v)) / float(np.abs(v).sum())]
    while True:
        c = signs(v)
        if found and _settled(K, c - found[-1], norms[-1]):
            return Path(np.array(found), np.array(norms), np.array(factors))
        v = K @ c
        found.append(c)
        norms.append(float(np.sqrt(c @ v)) / float(np.abs(v).sum()))
        factors.append(float(c @ v) / float(np.abs(v).sum()))


def _settled(K: Any, change: Any, norm: float) -> bool:
    """Tell whether x does not change: (c^k - c^(k+1))' K (c^k - c^(k+1)) = 0, up to rounding, as |y| = 1 / |x|."""
    return not change.any() or float(change @ (K @ change)) * norm**2 <= _ROUNDING


def all_signs(n: int) -> Any:
    """Return every sign vector whose first entry is +1, one per row."""
    bits = (np.arange(2 ** (n - 1))[:, None] >> np.arange(n - 1)) & 1
    return np.column_stack([np.ones(len(bits)), 1.0 - 2.0 * bits])
