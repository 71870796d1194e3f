"""Logs of NCCL_DEBUG, of NCCL 2.4 to 2.28 (its sources, src/transport and src/init.cc)."""

from toolkit.evidence.nccl_debug.collector import Collector
from toolkit.evidence.nccl_debug.line_cache import LineCache
from toolkit.evidence.nccl_debug.messages import is_nccl

__all__ = ["Collector", "LineCache", "is_nccl"]
