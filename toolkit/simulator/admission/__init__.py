"""SCC admission of the simulated cluster: OpenShift's plugin, simulated by a webhook over `policies.scc`."""
