"""The Pulumi engine: its tools, its plugins, and what the Kubernetes provider will do."""
