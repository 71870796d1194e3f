"""`./hpc state split`: from one stack to a platform and its tenants."""
