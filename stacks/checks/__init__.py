"""Rules that span settings: a module for each subject yields problems that name the setting, value and remedy."""
