"""`./hpc state`: create, check, list, back up and restore the state of a stack, and rotate the key of its secrets."""
