"""What finished jobs must show, each criterion with its limit and where that is from."""

from evidence.criteria import (
    asked_for,
    channels,
    collectives,
    comparisons,
    fabric,
    failures,
    logs,
    machines,
    nodes,
    placement,
    pods,
    programs,
    rails,
    repeats,
    scale,
    speed,
    subnet,
    transport,
    virtual,
)
from evidence.criteria.criterion import Comparison, Criterion

CRITERIA: tuple[Criterion, ...] = (
    *logs.CRITERIA,
    *failures.CRITERIA,
    *asked_for.CRITERIA,
    *placement.CRITERIA,
    *transport.CRITERIA,
    *rails.CRITERIA,
    *channels.CRITERIA,
    *collectives.CRITERIA,
    *speed.CRITERIA,
    *repeats.CRITERIA,
    *programs.CRITERIA,
    *fabric.CRITERIA,
    *subnet.CRITERIA,
    *machines.CRITERIA,
    *nodes.CRITERIA,
    *pods.CRITERIA,
    *scale.CRITERIA,
    *virtual.CRITERIA,
)
"""Of one job, in the order in which verdicts are shown."""
COMPARISONS: tuple[Comparison, ...] = comparisons.COMPARISONS
"""Between jobs."""
