"""A Kubernetes provider that keeps the contract of the official one, for where that one cannot be downloaded.

The engine calls `servicer`; the rest is pure (checks, state, structs, observations, readiness, jsonpath), or talks to
the API server (connection, discovery, cluster_objects, writes, lifecycle) and waits for it (awaiters, wait_loops).
"""
