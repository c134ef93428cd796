"""Updates of an SVD in feature space on a library of points that is compressed when it grows."""
