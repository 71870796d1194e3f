"""`./hpc hardware`: machines, what they need, and nodes compared with them."""
