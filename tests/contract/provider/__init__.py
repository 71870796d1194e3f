"""The Kubernetes provider's contract: requests as data, what came of them, and the tests that compare."""
