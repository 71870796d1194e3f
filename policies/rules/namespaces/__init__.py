"""Rules for namespaces, their quotas and networks."""
