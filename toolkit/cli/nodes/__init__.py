"""`./hpc nodes`: which nodes are fit for jobs."""
