"""Taking objects over that somebody made by hand, so that a stack has them as if it had made them."""
