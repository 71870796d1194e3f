"""Rules for queues and what they admit."""
