"""Goodput: the share of a job's time in which steps were trained that count, and what the rest was lost to."""
