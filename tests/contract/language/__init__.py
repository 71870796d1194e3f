"""What the official Python language host does with programs, recorded."""
