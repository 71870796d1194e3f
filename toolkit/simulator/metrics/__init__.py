"""What exporters of a simulated cluster write for Prometheus, as pure functions of the cluster's state."""
