"""From a stack's jobs to evidence: what was asked of each, and what its pods printed."""
