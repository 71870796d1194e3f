"""`./hpc pulumi`: plain `pulumi` in the environment of a stack."""
