"""Builds of OpenShift."""

from core.apis import kinds
from toolkit.cli.up.waits.builds import judge
from toolkit.cli.up.waits.verdict import Rule

RULE = Rule(kinds.BUILD.group, (kinds.BUILD.kind,), judge)
