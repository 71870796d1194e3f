"""What `./hpc` does with the program."""
