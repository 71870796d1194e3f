"""The simulated GUI of a Storage Scale cluster: a subset of its REST interface v2, on loopback with TLS.

What no document states is chosen here, and said in `docs/reference/simulated-cluster.md`.
"""
