"""Deployments, DaemonSets and StatefulSets."""

from toolkit.cli.up.waits import workloads
from toolkit.cli.up.waits.verdict import Rule

RULE = Rule("apps", tuple(kind.kind for kind in workloads.KINDS), workloads.verdict)
