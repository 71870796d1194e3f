"""The command line: one folder or module per command; what they share is in `toolkit.cli.shared`."""
