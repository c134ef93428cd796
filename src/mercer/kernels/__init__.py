"""Kernel functions, and operators that are made of them."""

from mercer.kernels.base import Kernel
from mercer.kernels.distance import RBF, Chi2, Laplacian
from mercer.kernels.inner_product import Cosine, Linear, Polynomial, Sigmoid
from mercer.kernels.user_given import Precomputed

__all__ = [
    "RBF",
    "Chi2",
    "Cosine",
    "Kernel",
    "Laplacian",
    "Linear",
    "Polynomial",
    "Precomputed",
    "Sigmoid",
    "Wavelet",
]


def __getattr__(name: str) -> type[Kernel]:
    """Return the wavelet kernel, which needs PyWavelets and is loaded only when it is asked for."""
    if name == "Wavelet":  # needs PyWavelets, so it is loaded only when asked for
        from mercer.kernels.wavelet import Wavelet

        return Wavelet
    raise AttributeError(f"module 'mercer.kernels' has no attribute {name!r}; it offers {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted(__all__)
