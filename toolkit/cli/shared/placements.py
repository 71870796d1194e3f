"""Where the jobs of a stack fit, as tables: what a preview prints before the engine does."""

from itertools import groupby

from core.wording import some
from stacks.resolved.placements import Placement, placements
from stacks.settings.platform import Settings
from toolkit.cli.shared.console import show_rows


def show(settings: Settings) -> None:
    """Print where the jobs of each stage fit; those of one wave all at the same time."""
    for stage, rows in groupby(placements(settings), key=lambda row: row.stage):
        show_rows(f"Placement, stage {stage}", ("wave", "job", "layout", "GPUs", "fits on"), map(_row, rows))


def _row(row: Placement) -> tuple[str, ...]:
    on = some([f"{node.split('.')[0]}: {pods}" for node, pods in row.on])
    layout = str(row.layout) if row.layout else ""
    layout += f" {row.instance}" if row.instance else ""
    otherwise = "what is free once others have ended" if row.layout else "any node that has its volume"
    return (str(row.wave), row.job, layout, str(row.gpus or ""), on or otherwise)
