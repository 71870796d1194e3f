"""YAML files with the places of their fields."""
