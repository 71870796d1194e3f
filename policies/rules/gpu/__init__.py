"""Rules for GPUs and what containers see of them."""
