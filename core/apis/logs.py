"""Texts and names by which the reader of logs recognizes the platform's jobs and the simulated cluster."""

SIMULATED = "simulated by hpc"
"""Prefix of every line that the simulated cluster adds to a program's output."""
LISTENER = "-listener"
"""Suffix of the RDMA test's other end, which prints only its bandwidth."""
NO_HOSTS = "no list of hosts, umad is for root here"
"""What the RDMA test prints in place of the list of ibhosts where umad devices belong to root, as on RHCOS."""
