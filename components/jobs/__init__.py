"""Jobs that run on pods with GPUs, and the images they use."""
