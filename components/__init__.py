"""Typed component resources of the platform, one per file, each with its arguments model beside it."""
