"""`./hpc job`: the manifest by which a tenant's own user starts a program."""
