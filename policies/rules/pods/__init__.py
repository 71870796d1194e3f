"""Rules for every pod."""
