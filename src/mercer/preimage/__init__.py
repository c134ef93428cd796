"""From scores in feature space back to rows in input space."""
