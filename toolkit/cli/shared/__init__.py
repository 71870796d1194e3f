"""What commands share: the terminal, a stack and its state, the engine, and the cluster."""
