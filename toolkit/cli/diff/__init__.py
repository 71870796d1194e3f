"""`./hpc diff`: what an update, or the step from one commit to another, would change."""
