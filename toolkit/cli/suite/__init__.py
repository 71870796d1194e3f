"""`./hpc suite`: the rounds of a stack's suite."""
