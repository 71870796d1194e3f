"""Rules for training jobs of the Trainer."""
