"""`./hpc ci comment`: put a review onto a pull request."""
