"""What the Kubernetes provider makes of inputs and of objects: differences, replacements, events that block."""
