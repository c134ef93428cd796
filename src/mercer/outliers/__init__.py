"""Outlier detection with known rates of false alarms."""
