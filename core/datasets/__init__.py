"""What is chosen of data sets: cards, choices, locks."""
