"""A Kubernetes provider that keeps the contract of the official one, for where that one cannot be downloaded.

The engine calls `servicer`; the rest is pure (values, inputs, shapes, diff, replacing, readiness, jsonpath, ownership)
or talks to the API server (connection, discovery, objects, waiting).
"""
