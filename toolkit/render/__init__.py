"""Runs the program without an engine, for rendered manifests, comparisons and tests."""
