"""`./hpc drift`: what on the cluster differs from the program, and its repair."""
