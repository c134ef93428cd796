"""Measures of results that need no model: two clusterings of the same items, a signal and its estimate."""

import numpy as np
import numpy.typing as npt


def variation_of_information(labels_a: npt.ArrayLike, labels_b: npt.ArrayLike) -> float:
    """Return the distance of two clusterings of the same items, in nats: ``H(A | B) + H(B | A)``.

    It is 0 for equal clusterings, whatever the labels are called, and at most log n ([meila2005]_; sec. 5.3 of
    [guenter2006]_).

    Parameters
    ----------
    labels_a : array-like of shape (n_samples,)
        The cluster of each item: numbers or strings.
    labels_b : array-like of shape (n_samples,)
        The cluster of each item in the other clustering.

    Returns
    -------
    float
        The distance.

    Raises
    ------
    ValueError
        If the labels are not two vectors of the same length with at least one item.

    See Also
    --------
    mercer.KernelSpectralClustering : Clusters of any shape.

    References
    ----------
    .. [guenter2006] Simon Günter, Nicol N. Schraudolph and S. V. N. Vishwanathan, Fast iterative kernel PCA, 2006.
    .. [meila2005] M. Meila, Comparing clusterings: an axiomatic view, International Conference on Machine Learning,
       2005.

    Examples
    --------
    >>> from mercer.metrics import variation_of_information
    >>> variation_of_information([0, 0, 1, 1], ["b", "b", "a", "a"])
    0.0
    >>> round(variation_of_information([0, 0, 1, 1], [0, 1, 0, 1]), 4)
    1.3863
    """
    a, b = np.asarray(labels_a), np.asarray(labels_b)
    if a.ndim != 1 or a.shape != b.shape:
        raise ValueError(f"Two label vectors of one length are needed; got {a.shape} and {b.shape}.")
    if len(a) == 0:
        raise ValueError("The label vectors are empty; at least one item is needed.")
    first, second = (np.unique(labels, return_inverse=True)[1] for labels in (a, b))
    cells, joint = np.unique(np.column_stack([first, second]), axis=0, return_counts=True)
    sizes_a, sizes_b = np.bincount(first)[cells[:, 0]], np.bincount(second)[cells[:, 1]]
    # no term is negative, so equal clusterings give exactly zero
    return float(np.sum(joint * (np.log(sizes_a / joint) + np.log(sizes_b / joint))) / len(a))


def snr(signal: npt.ArrayLike, estimate: npt.ArrayLike) -> float:
    """Return the signal-to-noise ratio of an estimate in decibels.

    It is ``10 log10(sum (s - mean s)^2 / sum (s - e)^2)`` (sec. 5.2 of [guenter2006]_). The paper does not say
    whether the signal's mean counts; here it does not. The ratio of a perfect estimate is infinity. The ratio of any
    other estimate of a constant signal is minus infinity.

    Parameters
    ----------
    signal : array-like
        The true values s, of any shape.
    estimate : array-like
        The estimate e, of the same shape.

    Returns
    -------
    float
        The ratio, in decibels.

    Raises
    ------
    ValueError
        If the shapes differ, or the signal is empty.

    See Also
    --------
    mercer.PatchDenoiser : Removes noise from images.

    References
    ----------
    .. [guenter2006] Simon Günter, Nicol N. Schraudolph and S. V. N. Vishwanathan, Fast iterative kernel PCA, 2006.

    Examples
    --------
    >>> from mercer.metrics import snr
    >>> round(snr([0.0, 1.0, 2.0], [0.1, 1.0, 1.9]), 6)
    20.0
    """
    s, e = np.asarray(signal, np.float64), np.asarray(estimate, np.float64)
    if s.shape != e.shape:
        raise ValueError(f"Signal and estimate must have one shape; they have {s.shape} and {e.shape}.")
    if s.size == 0:
        raise ValueError("The signal is empty; at least one value is needed.")
    exponent = -int(np.frexp(max(np.abs(s).max(), np.abs(e).max()))[1])
    s, e = np.ldexp(s, exponent - 1), np.ldexp(e, exponent - 1)  # exact; the squares of any numbers are finite then
    noise = float(np.sum((s - e) ** 2))
    power = float(np.sum((s - s.mean()) ** 2))
    if noise == 0.0:
        return float("inf")
    return float("-inf") if power == 0.0 else float(10.0 * (np.log10(power) - np.log10(noise)))
