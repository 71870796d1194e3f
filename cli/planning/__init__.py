"""What a stack's machines need beyond the cluster: calculations of `hardware`, as sections of a report."""
