"""Chin, Suter: Incremental Kernel Principal Component Analysis (2007)."""

from papers.experiment import Item, Paper

_FACES = "32 x 32 Extended Yale B for Yale B"

PAPER = Paper(
    "chin2007",
    "Incremental Kernel Principal Component Analysis",
    (
        Item("Figure 1", "how pre-images are shared between vectors: an illustration; the loss of each way"),
        Item("Table I", "pseudocode", impossible="nothing to compute: pseudocode (IncrementalKernelPCA)"),
        Item("Figure 2", "drift on 2-D data: subspace distance of IKPCA and IKPCA-RS, two kernels"),
        Item("Table II", "projections of the plane on three components, KPCA and IKPCA-RS, two kernels"),
        Item(
            "Figure 3",
            "subspace distance per step: teapots, digit 3, Frey faces, Yale B",
            instead=f"{_FACES}; no teapots",
        ),
        Item("Table III", "average residual error of KPCA, IKPCA, IKPCA-RS", instead=f"{_FACES}; no teapots"),
        Item("Figure 4", "processing times as the number of rows grows"),
        Item("Table IV", "kernel eigenfaces: classification error", instead=_FACES),
        Item(
            "Figure 5", "examples from a private video database", impossible="no data: the videos were never published"
        ),
        Item(
            "Figure 6",
            "face recognition from video: ROC curves, drift",
            instead="image sets of Extended Yale B for 17 private videos",
        ),
        Item("Figure 7", "tracking in three sequences", instead="the David sequence for three of the authors' site"),
        Item("Table V", "memory and time of one update, as orders of growth"),
    ),
)
