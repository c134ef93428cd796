"""Kim, Klabjan: A Simple and Fast Algorithm for L1-norm Kernel PCA (2019)."""

from papers.experiment import Item, Paper

_ROWS = "rows of the same kind, the paper's noise is not given"
_TOYS = "points of the same kind, the paper's are not given"

PAPER = Paper(
    "kim2019",
    "A Simple and Fast Algorithm for L1-norm Kernel PCA",
    (
        Item("Figure 1", "geometry of the algorithm"),
        Item("Theorem 2", "objective values converge at a linear rate"),
        Item("Figure 2", "explained variation under corruption, linear kernel, five methods", instead=_ROWS),
        Item("Figure 3", "the same with Gaussian kernels, sigma from 10 to 25", instead=_ROWS),
        Item("Figure 4", "first toy example: points and first directions", instead=_TOYS),
        Item("Figure 5", "first toy example: principal space of five methods", instead=_TOYS),
        Item("Figure 6", "second toy example: a spiral with outliers", instead=_TOYS),
        Item("Figure 7", "second toy example: principal space of five methods", instead=_TOYS),
        Item("Table 1", "sizes of the six outlier data sets"),
        Item("Table 2", "area under the precision-recall curve of 12 detectors on six data sets"),
        Item("Table 3", "run times of five methods on six data sets"),
    ),
)
