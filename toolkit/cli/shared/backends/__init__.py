"""Where the Pulumi state of a stack is stored, and what is in it."""
