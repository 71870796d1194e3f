"""Builds of OpenShift."""

from apis import kinds
from cli.up.waits.builds import judge
from cli.up.waits.verdict import Rule

RULE = Rule(kinds.BUILD.group, (kinds.BUILD.kind,), judge)
