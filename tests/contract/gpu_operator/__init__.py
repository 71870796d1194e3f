"""What NVIDIA's GPU Operator makes of ClusterPolicies: recorded from the real one, replayed on the simulated one."""
