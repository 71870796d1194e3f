"""The report as JSON. Fields may be added; those that are there keep their names and meanings.

```json
{
  "version": 1,
  "summary": {"files": 1, "objects": 1, "pods": 1, "mandatory": 1, "advisory": 0, "unverified": 0,
              "excepted": 0, "unreadable": 0},
  "findings": [{
    "file": "job.yaml", "line": 20, "column": 15,
    "rule": "rdma-exactly-one", "severity": "mandatory", "doubt": null,
    "object": "Job adas/train", "container": "train", "path": ["spec", "template", "..."],
    "message": "...", "remedy": "..."
  }],
  "unreadable": [{"file": "broken.yaml", "line": 3, "column": 1, "message": "is not YAML: ..."}],
  "notes": [{"file": "values.yaml", "line": 1, "column": 1, "message": "is not a Kubernetes object ..."}]
}
```

Findings are sorted by file, line, column and rule. `doubt` is null, "unverified-value" or "unverified-link"; `column`
and `line` count from 1 and are 0 where a notice is about a file as a whole, and of objects that a stack declares.
"""

import json
from dataclasses import asdict
from typing import Any

from policies.findings import Severity
from toolkit.cli.check.examination import Located, Result


def report(result: Result) -> str:
    """Return the document."""
    findings = [_finding(located) for located in result.findings]
    summary = {
        "files": result.files,
        "objects": result.objects,
        "pods": result.pods,
        **{str(level): sum(finding["severity"] == level for finding in findings) for level in Severity},
        "unverified": sum(finding["doubt"] is not None for finding in findings),
        "excepted": result.excepted,
        "unreadable": len(result.problems),
    }
    content = {
        "version": 1,
        "summary": summary,
        "findings": findings,
        "unreadable": [asdict(problem) for problem in result.problems],
        "notes": [asdict(note) for note in result.notes],
    }
    return json.dumps(content, indent=2)


def _finding(located: Located) -> dict[str, Any]:
    finding = located.finding
    return {
        "file": located.file,
        "line": located.line,
        "column": located.column,
        "rule": finding.rule,
        "severity": finding.severity,
        "doubt": finding.undetermined,
        "object": finding.object,
        "container": finding.container,
        "path": finding.path,
        "message": finding.message,
        "remedy": finding.remedy,
    }
