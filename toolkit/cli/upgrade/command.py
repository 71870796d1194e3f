"""`./hpc upgrade ...`: a module for each subcommand."""

from toolkit.cli.shared.command_groups import group

app = group("Versions: the way from those that run to others.", {"check": "toolkit.cli.upgrade.check"})
