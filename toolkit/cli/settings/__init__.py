"""`./hpc settings`: what a stack's settings say, with their bases."""
