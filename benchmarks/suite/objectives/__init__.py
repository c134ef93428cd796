"""One objective per file."""
