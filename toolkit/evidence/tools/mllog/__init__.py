"""MLPerf Training logs: MLLOG of today, MLL of v0.6 and MLP of v0.5."""

from toolkit.evidence.tools.mllog.criteria import CRITERIA
from toolkit.evidence.tools.mllog.parser import UNVERIFIED, MlLog, MlLogParser

__all__ = ["CRITERIA", "UNVERIFIED", "MlLog", "MlLogParser"]
