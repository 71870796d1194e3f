"""Rules for images."""
