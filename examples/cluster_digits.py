"""Find the kinds of handwritten digits without labels: python examples/cluster_digits.py clusters.png

Spectral clustering of USPS digits (scikit-learn's digits if USPS is missing), and the clusters of new digits.
Each row of the figure is a cluster, with some of its new digits.
"""

import sys

import numpy as np

from mercer import KernelSpectralClustering, datasets, plots
from mercer.metrics import variation_of_information


def main(path: str) -> None:
    """Cluster 2000 digits, label others, and draw some of each cluster."""
    digits = datasets.load("usps")
    X, y, new, y_new = digits.X[:2000], digits.y[:2000], digits.X_test, digits.y_test
    gamma = 1 / 128 if X.shape[1] == 256 else "median"  # sigma = 8 for USPS
    model = KernelSpectralClustering(10, gamma=gamma, random_state=0).fit(X)
    labels = model.predict(new)
    apart = [variation_of_information(*pair) for pair in ((model.labels_, y), (labels, y_new))]
    rows = {}
    for cluster in range(10):
        most = np.bincount(y[model.labels_ == cluster]).argmax()
        rows[f"{cluster}: mostly {most}"] = new[labels == cluster][:16]
    figure = plots.image_grid(rows, (int(X.shape[1] ** 0.5),) * 2, size=0.45)
    figure.suptitle(f"Variation of information: {apart[0]:.2f} learned, {apart[1]:.2f} new (random: 4.5)", fontsize=10)
    figure.savefig(path, dpi=100)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "clusters.png")
