"""Rules for security context constraints."""
