"""Reading the settings of a stack, merged over its bases, with the place of every error."""
