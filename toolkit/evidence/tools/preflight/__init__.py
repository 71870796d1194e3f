"""The program preflight (stacks/scripts/preflight.py): whether a node is fit for jobs."""

from toolkit.evidence.tools.preflight.criteria import CRITERIA
from toolkit.evidence.tools.preflight.parser import PreflightParser

__all__ = ["CRITERIA", "PreflightParser"]
