"""perftest: bandwidth and latency of RDMA between two hosts."""
