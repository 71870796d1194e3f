"""Tests of the real Kueue, which share one cluster."""
