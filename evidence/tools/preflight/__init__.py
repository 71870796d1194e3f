"""The program preflight (stacks/scripts/preflight.py): whether a node is fit for jobs."""

from evidence.tools.preflight.criteria import CRITERIA
from evidence.tools.preflight.parser import PreflightParser

__all__ = ["CRITERIA", "PreflightParser"]
