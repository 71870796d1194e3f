"""What several rules read out of objects: one module for each kind of thing."""
