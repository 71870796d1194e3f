"""The programs of a simulated cluster: where each comes from, and how it is found or built."""

from toolkit.engine.tools.lookup import cache_folder, command, ensure, find, missing
from toolkit.engine.tools.table import NAMES

__all__ = ["NAMES", "cache_folder", "command", "ensure", "find", "missing"]
