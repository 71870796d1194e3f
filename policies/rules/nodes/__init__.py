"""Rules for nodes: machine configuration, kubelet, kernel."""
