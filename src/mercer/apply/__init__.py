"""What a fitted model is used for: pre-images and distances in feature space."""
