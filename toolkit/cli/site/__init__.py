"""`./hpc site`: files for what lies around the cluster, and how running configurations differ from them."""

from toolkit.cli.shared.command_groups import group

app = group(
    "Hosts, switches and what else is around the cluster.",
    {
        "render": "toolkit.cli.site.render",
        "check": "toolkit.cli.site.check",
        "diff": "toolkit.cli.site.diff",
    },
)
