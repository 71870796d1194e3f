"""Clusters that were set up manually, and are adopted."""
