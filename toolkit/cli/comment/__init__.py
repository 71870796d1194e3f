"""`./hpc comment`: put a review onto a pull request."""
