"""Reviews of a stack's change, asked of the engine, of two commits, or of the cluster; and what is made of them."""
