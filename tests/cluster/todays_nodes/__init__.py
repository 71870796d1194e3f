"""Tests of nodes, queues and storage of today, which share one cluster."""
