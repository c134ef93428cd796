"""Günter, Schraudolph, Vishwanathan: Fast Iterative Kernel PCA (2006)."""

from papers.experiment import Item, Paper

_CAMERA = "the camera image for Lena"

PAPER = Paper(
    "guenter2006",
    "Fast Iterative Kernel PCA",
    (
        Item("Figure 1", "excess error per pass on USPS, dot-product and Gaussian kernel, four gain rules"),
        Item("Figure 2", "excess error on patches of a noisy image; the image denoised", instead=_CAMERA),
        Item("Figure 3", "spectral clustering of USPS: excess error, and variation of information per pass"),
        Item("Figure 4", "a walking motion denoised: excess error, and stick figures", instead="one CMU walk, 35_01"),
        Item("Algorithm 1", "pseudocode of KHA-SMD", impossible="nothing to compute: pseudocode (HebbianKernelPCA)"),
    ),
)
