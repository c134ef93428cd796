"""Speed and memory against scikit-learn, in one process run, as ratios. `make bench` prints them all."""
