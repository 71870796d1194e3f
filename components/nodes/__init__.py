"""Components of nodes: labels, pools, kernel and kubelet settings."""
