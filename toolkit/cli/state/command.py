"""`./hpc state ...`: a module for each subcommand."""

from toolkit.cli.shared.command_groups import group

app = group(
    "A stack's state: backups, repair, existing objects, tenants.",
    {
        "init": "toolkit.cli.state.init",
        "check": "toolkit.cli.state.check",
        "list": "toolkit.cli.state.list",
        "backup": "toolkit.cli.state.backup",
        "restore": "toolkit.cli.state.restore",
        "repair": "toolkit.cli.state.repair",
        "rotate": "toolkit.cli.state.rotate",
        "accept-cluster": "toolkit.cli.state.accept_cluster",
        "adopt": "toolkit.cli.state.adopt.command",
        "split": "toolkit.cli.state.split",
    },
)
