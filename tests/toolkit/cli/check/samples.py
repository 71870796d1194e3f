"""Files with a finding, and their examination."""

from datetime import date

from policies.check import Checker
from policies.rules import RULES
from toolkit.cli.check.examination import Result, examine
from toolkit.cli.check.sources import Source

TODAY = date(2026, 6, 1)
RULE = "rdma-exactly-one"
CHECKER = Checker([rule for rule in RULES if rule.name == RULE])
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: NAME}
spec:
  containers:
    - name: main
      resources:
        limits:
          rdma/shared_ib0: 2
"""


def manifest(name: str = "x") -> str:
    """Return a manifest with one mandatory finding, in line 9 and column 11."""
    return POD.replace("NAME", name)


def examined(**files: str) -> Result:
    """Return what the rule finds in files, by their names."""
    return examine([Source(name, text.encode()) for name, text in files.items()], CHECKER, today=TODAY)
