"""Rules for RDMA devices and locked memory."""
