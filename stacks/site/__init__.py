"""The facts of hosts, switches and storage around the cluster, from the settings of a stack."""
