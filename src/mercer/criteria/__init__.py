"""Criteria by which models are compared without labels."""
