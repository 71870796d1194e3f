"""What a change of a stack means: what is claimed, who may do what, what restarts and what is lost, in plain words."""
