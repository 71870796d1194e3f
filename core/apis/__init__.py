"""API groups, versions and shapes as data: the one place with such strings."""
