"""Deployments, DaemonSets and StatefulSets."""

from cli.up.waits import workloads
from cli.up.waits.verdict import Rule

RULE = Rule("apps", tuple(kind.kind for kind in workloads.KINDS), workloads.verdict)
