"""`./hpc data`: the data that jobs are trained on."""
