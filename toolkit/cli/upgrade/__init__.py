"""`./hpc upgrade`: from the versions that run to those that are declared, in steps that vendors support."""
