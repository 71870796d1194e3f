"""`./hpc data`: the data that jobs are trained on."""

from toolkit.cli.shared.command_groups import group

app = group(
    "The data sets that jobs train on.",
    {
        "generate": "toolkit.cli.data.generate",
        "index": "toolkit.cli.data.index",
        "stats": "toolkit.cli.data.stats",
        "select": "toolkit.cli.data.select",
        "list": "toolkit.cli.data.list",
        "publish": "toolkit.cli.data.publish",
        "diff": "toolkit.cli.data.diff",
        "drift": "toolkit.cli.data.drift",
        "confusion": "toolkit.cli.data.confusion",
        "status": "toolkit.cli.data.status",
    },
)
