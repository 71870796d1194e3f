"""The settings of a stack: frozen models, one a section of the file."""
