"""Tables of measurements: what their columns are like, and how they are scaled."""
