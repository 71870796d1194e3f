"""The consequences of a change of a stack: what is claimed, who may do what, what restarts and what is lost."""
