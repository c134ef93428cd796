"""Settings without labels: which kernel, how wide, how many components."""
