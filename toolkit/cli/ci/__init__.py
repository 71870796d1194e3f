"""`./hpc ci`: what a pipeline needs beside the commands of a stack."""
