"""`./hpc programs`: files of users' own programs."""
