"""`./hpc status`: what runs on a cluster, as rows and tables."""
