"""`./hpc state adopt`: import objects that exist on the cluster, so that a stack has them as if it had created them."""
