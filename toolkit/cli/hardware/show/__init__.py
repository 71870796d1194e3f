"""`./hpc hardware show`: what a stack's machines need beyond the cluster."""
