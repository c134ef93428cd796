"""What Sphinx needs for this site beyond its own extensions."""
