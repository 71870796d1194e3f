"""Logs of NVIDIA's DeepLearningExamples, by DLLogger."""

from toolkit.evidence.criterion import Criterion
from toolkit.evidence.tools.deeplearningexamples.parser import DeepLearningExamples, DeepLearningExamplesParser

__all__ = ["CRITERIA", "DeepLearningExamples", "DeepLearningExamplesParser"]

CRITERIA: tuple[Criterion, ...] = ()
"""None: two runs are compared, by toolkit/evidence/criteria/comparisons.py."""
