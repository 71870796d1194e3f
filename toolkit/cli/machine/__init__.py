"""`./hpc machine`: machine files from what nodes print."""
