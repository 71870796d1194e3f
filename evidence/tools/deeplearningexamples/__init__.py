"""Logs of NVIDIA's DeepLearningExamples, by DLLogger."""

from evidence.criterion import Criterion
from evidence.tools.deeplearningexamples.parser import DeepLearningExamples, DeepLearningExamplesParser

__all__ = ["CRITERIA", "DeepLearningExamples", "DeepLearningExamplesParser"]

CRITERIA: tuple[Criterion, ...] = ()
"""None: two runs are compared, by evidence/criteria/comparisons.py."""
