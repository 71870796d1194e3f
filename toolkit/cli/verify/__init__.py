"""From a stack's jobs to evidence: what was requested of each, and what its pods printed."""
