"""`./hpc plan`: what a stack's machines need beyond the cluster."""
