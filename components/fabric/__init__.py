"""Components of the RDMA fabric: ports, networks and their device plugins."""
