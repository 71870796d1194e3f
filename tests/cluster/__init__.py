"""The whole way, from settings to finished jobs, on a simulated cluster."""
