"""The command line: thin, one module per sub-command below `cli.commands`."""
