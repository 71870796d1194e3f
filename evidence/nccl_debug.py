"""NCCL_DEBUG logs."""

from evidence.model import NcclLog
from evidence.text import Line

MARK = "NCCL "


class Collector:
    """Collects what the ranks of one program say."""

    def feed(self, line: Line) -> None:
        """Read a line."""

    def log(self) -> NcclLog | None:
        """Return what was read, None when nothing was."""
        return None
