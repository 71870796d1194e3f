"""Components that bring up GPUs."""
