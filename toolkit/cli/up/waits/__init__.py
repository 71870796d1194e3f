"""What an update waits for, read on the cluster while the engine works."""
