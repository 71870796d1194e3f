"""`./hpc up`: everything from the tools to the finished jobs."""
