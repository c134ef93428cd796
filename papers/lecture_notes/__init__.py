"""Lecture notes on kernel PCA and the Hebbian maximum eigenfilter: without tables, so their claims are checked."""

from papers.experiment import Item, Paper

PAPER = Paper(
    "lecture_notes",
    "Kernel PCA, and the Hebbian maximum eigenfilter",
    (
        Item(
            "Claim 1", "eigenvalues of the kernel matrix are N times those of the correlation matrix in feature space"
        ),
        Item("Claim 2", "a'a = 1 / lambda gives eigenvectors of unit length"),
        Item("Claim 3", "scores of new points come from kernel values alone"),
        Item("Claim 4", "Hebb's rule without normalisation is unbounded"),
        Item("Claim 5", "Oja's rule is Hebb's rule with normalisation, up to the first power of the gain"),
        Item("Claim 6", "all modes except the first decay, at the rates lambda_1 - lambda_k"),
        Item("Claim 7", "V = (theta_1^2 - 1)^2 is a Lyapunov function: it falls to zero"),
        Item("Claim 8", "with gains 1/n the weights converge to the first eigenvector"),
        Item("Claim 9", "the variance of the output converges to the largest eigenvalue"),
        Item("Claim 10", "hard-limited weights stay bounded and still converge"),
        Item("Claim 11", "long weight vectors become shorter (Sanger)"),
    ),
)
