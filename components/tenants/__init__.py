"""Components of a tenant: its namespace, rights and quotas."""
