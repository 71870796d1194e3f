"""What the Kubernetes provider makes of inputs and of the state of objects: differences, replacements, events that block."""
