"""
How many components?
====================

`n_components=0.9` keeps as many components as explain nine tenths of the variation. The picture shows what each of
them adds.
"""

# %%
# Handwritten digits: 1797 rows with 64 pixels each.
from sklearn.datasets import load_digits

from mercer import KernelPCA, plots

X, y = load_digits(return_X_y=True)
model = KernelPCA(n_components=0.9, kernel="rbf", gamma="median").fit(X)
print(f"{model.n_components_} components explain {model.explained_variance_ratio_.sum():.1%} of the variation")

figure = plots.spectrum(model)

# %%
# The shares refer to the whole variation in feature space, including the directions that are not among the components.
# (Where other programs divide by the sum over the components that they computed, the shares always add up to one.)
#
# The first two components alone, with the digit of each row as its colour:
figure = plots.scores(model, X, y)
# sphinx_gallery_thumbnail_number = 2
