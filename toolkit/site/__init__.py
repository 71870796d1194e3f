"""What lies around the cluster: hosts, switches, fabrics, storage clients, mirrors, written from the same settings."""
