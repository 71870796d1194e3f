"""`./hpc split`: from one stack to a platform and its tenants."""
