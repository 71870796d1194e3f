"""What is left of an update that was cut off, and how it is finished."""
