"""A stack as manifests for Argo CD or Flux: waves, health checks, and a page on how to use them."""
