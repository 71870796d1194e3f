"""Rules for API versions, fields and names."""
