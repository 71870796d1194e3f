"""Secrets in what a finding says."""

from core.pulumi_values import REDACTED
from policies.findings import Finding, Severity, redact


def test_neither_message_nor_remedy_shows_a_secret() -> None:
    """Secrets are removed from the remedies of findings, too."""
    finding = Finding("a", Severity.MANDATORY, "Pod x", "comes from hunter2.example", "Add hunter2.example")
    assert str(redact(finding, ["hunter2"])) == f"a: Pod x: comes from {REDACTED}.example. Add {REDACTED}.example"
