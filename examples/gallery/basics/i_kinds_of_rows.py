"""
A kernel for each kind of row
=============================

A row need not be a list of measurements. For counts, images and words there are kernels that know what they compare.
"""

# %%
# **Counts.** The pixels of these digits are counts: of 16 dots, how many are black. `mercer.kernels.Chi2` compares
# counts, and a difference matters more where both are small. **Images.** `mercer.kernels.Wavelet` compares images by
# their coarse content, here by the averages of blocks of 2 x 2 pixels. The models do not know which digit a row is: it
# only chooses the colour.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import CountVectorizer

from mercer import KernelPCA, kernels

X, digit = load_digits(n_class=4, return_X_y=True)
counts = KernelPCA(2, kernel=kernels.Chi2(gamma=0.02)).fit_transform(X)
coarse = KernelPCA(2, kernel=kernels.Wavelet("haar", level=1, shape=(8, 8))).fit_transform(X)

figure, panels = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
for axes, title, scores in ((panels[0], "counts: Chi2", counts), (panels[1], "images: Wavelet", coarse)):
    for one in range(4):
        axes.scatter(*scores[digit == one].T, s=10, alpha=0.6, label=f"digit {one}")
    axes.legend(frameon=False, markerscale=1.5)
    axes.set_title(title, loc="left")
    axes.set(xticks=[], yticks=[], xlabel="component 1", ylabel="component 2")

# %%
# **Words.** Whatever two things are: if you can say how similar they are, kernel PCA can describe them. Two words are
# similar here if they share pairs of letters; ``kernel="precomputed"`` takes the matrix of all similarities.
# In the model this is a :class:`mercer.kernels.Precomputed`.
words = {
    "English": "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety",
    "German": "eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn "
    "siebzehn achtzehn neunzehn zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
    "Spanish": "uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis "
    "diecisiete dieciocho diecinueve veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa",
}
language = np.repeat(list(words), 27)
pairs = CountVectorizer(analyzer="char_wb", ngram_range=(2, 2)).fit_transform(" ".join(words.values()).split())
similarity = (pairs @ pairs.T).toarray().astype(float)  # (81, 81): pairs of letters that two words share
lengths = np.sqrt(np.diag(similarity))
numerals = KernelPCA(2, kernel="precomputed").fit_transform(similarity / np.outer(lengths, lengths))

# %%
# The model does not know the languages either; they only choose the colours. Where words would lie on top of each
# other, only the first of them is written, and the others are dots.
figure, axes = plt.subplots(figsize=(10, 6.5), layout="constrained")
span = np.ptp(numerals, axis=0)
written = []
for place, word, group in zip(numerals, " ".join(words.values()).split(), language, strict=True):
    colour = f"C{list(words).index(group)}"
    near = [
        other
        for other, length in written
        if np.all(np.abs(place - other) < span * (0.006 * (len(word) + length), 0.03))
    ]
    if near:
        axes.plot(*place, ".", color=colour, alpha=0.5, zorder=0)
        continue
    written.append((place, len(word)))
    axes.text(*place, word, fontsize=9, ha="center", va="center", color=colour)
for i, name in enumerate(words):
    axes.plot([], [], "s", color=f"C{i}", label=name)
axes.scatter(*numerals.T, s=0)
axes.legend(frameon=False)
axes.set_title("words: precomputed", loc="left")
axes.set(xticks=[], yticks=[], xlabel="component 1", ylabel="component 2")
