"""`./hpc init`: the settings of a first stack, from a cluster or from an example."""
