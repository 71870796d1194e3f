"""Typed component resources of the platform, each with its arguments model beside it."""
