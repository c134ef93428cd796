"""Components that maximise sums of absolute scores, and rivals of that method."""
