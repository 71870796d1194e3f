"""What our own jobs, and the simulated cluster, say in logs and names, by which the reader of logs knows them."""

SIMULATED = "simulated by hpc"
"""How every line begins that the simulated cluster adds to what a program prints."""
LISTENER = "-listener"
"""How the name of the RDMA test's other end ends, which prints its bandwidth only."""
NO_HOSTS = "no list of hosts, umad is for root here"
"""What the RDMA test says in place of the list of ibhosts: umad devices are root's, as on RHCOS."""
