"""The policy SDK's own server object, driven in this process.

`_PolicyAnalyzerServicer` is private to pulumi-policy (pinned) and has no types; this module alone touches it.
"""

from typing import Any

from pulumi.runtime import proto
from pulumi_policy import EnforcementLevel
from pulumi_policy import policy as sdk

from policies.pack import NAME, policies


def analyze(
    token: str,
    inputs: dict[str, Any],
    configuration: dict[str, dict[str, Any]] | None = None,
    level: str = "mandatory",
) -> list[proto.AnalyzeDiagnostic]:
    """Return what the pack reports on one resource, as the engine receives it."""
    servicer: Any = sdk._PolicyAnalyzerServicer(NAME, "0", policies(), EnforcementLevel.ADVISORY)
    if configuration:
        servicer.Configure(_configuration(configuration, level), None)
    request: Any = proto.AnalyzeRequest(type=token, urn=f"urn:pulumi:t::p::{token}::x", name="x")
    request.properties.update(inputs)
    return list(servicer.Analyze(request, None).diagnostics)


def _configuration(configuration: dict[str, dict[str, Any]], level: str) -> Any:
    request: Any = proto.ConfigureAnalyzerRequest()
    for rule, values in configuration.items():
        request.policyConfig[rule].enforcementLevel = proto.EnforcementLevel.Value(level.upper())
        request.policyConfig[rule].properties.update(values)
    return request
