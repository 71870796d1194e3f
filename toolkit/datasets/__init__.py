"""Data sets: their cards, catalogues of their frames, and what is in their labels."""
