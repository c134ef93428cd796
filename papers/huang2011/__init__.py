"""Huang, Yeh: An Iterative Algorithm for Robust Kernel Principal Component Analysis (2011)."""

from papers.experiment import Item, Paper

PAPER = Paper(
    "huang2011",
    "An Iterative Algorithm for Robust Kernel Principal Component Analysis",
    (
        Item("Figure 1", "synthetic data in the plane: points, weights, convergence of both methods"),
        Item("Figure 2", "phoneme curves: convergence of three components"),
        Item("Figure 3", "phoneme curves: the weight of each"),
        Item("Figure 4", "phoneme curves: the three principal curves"),
        Item("Table 1", "phoneme curves: cosines with the clean components"),
        Item("Figure 5", "an image with white windows, learned and reconstructed", instead="the camera image for Lena"),
        Item("Figure 6", "faces with foreign images among them", instead="a drawn cat for the fortune cat"),
        Item("Claim 1", "the iterative method takes less time than the batch method"),
        Item("Algorithm 1", "pseudocode", impossible="nothing to compute: pseudocode (OnlineRobustKernelPCA)"),
    ),
)
