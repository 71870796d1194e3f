"""Data sets: cards, catalogues, and choices of frames, as data and pure functions."""
