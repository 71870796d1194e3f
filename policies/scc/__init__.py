"""SCC admission, predicted: which SCC takes a pod, what it fills in, or why none does."""

from policies.scc.admission import (
    NOT_USABLE,
    REQUIRED_ANNOTATION,
    SCC_ANNOTATION,
    SUBJECT_ANNOTATION,
    Reason,
    Verdict,
    admit,
    order,
)
from policies.scc.reading import InvalidPod
from policies.scc.shipped import USABLE_BY_ALL, Release, default_sccs
from policies.scc.subjects import Namespace, User, running_as, service_account

__all__ = [
    "NOT_USABLE",
    "REQUIRED_ANNOTATION",
    "SCC_ANNOTATION",
    "SUBJECT_ANNOTATION",
    "USABLE_BY_ALL",
    "InvalidPod",
    "Namespace",
    "Reason",
    "Release",
    "User",
    "Verdict",
    "admit",
    "default_sccs",
    "order",
    "running_as",
    "service_account",
]
