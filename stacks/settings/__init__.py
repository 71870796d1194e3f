"""The settings of a stack: frozen models, one or more for each section of the file."""
