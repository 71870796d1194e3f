"""Rules for volumes and Storage Scale."""
