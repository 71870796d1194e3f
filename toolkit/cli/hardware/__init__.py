"""`./hpc hardware`: machines, what they need, and nodes compared with them."""

from toolkit.cli.shared.command_groups import group

app = group(
    "Machines: what they need, what fits, how nodes differ.",
    {
        "show": "toolkit.cli.hardware.show.command",
        "fit": "toolkit.cli.hardware.fit",
        "from-logs": "toolkit.cli.hardware.from_logs",
        "discover": "toolkit.cli.hardware.discover",
        "check": "toolkit.cli.hardware.check",
    },
)
