"""Components of Storage Scale and of volumes."""
