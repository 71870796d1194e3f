"""Where the Pulumi state of a stack is kept, and what is in it."""
