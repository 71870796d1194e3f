"""SCC admission of the simulated cluster: OpenShift's plugin, played by a webhook that asks `policies.scc`."""
