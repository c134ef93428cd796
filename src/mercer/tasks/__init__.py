"""What models are used for: small classes that take any of them."""
