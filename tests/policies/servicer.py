"""The policy SDK's own server object, driven in this process.

`_PolicyAnalyzerServicer` is private to pulumi-policy (pinned) and has no types; this module alone touches it.
"""

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any

from google.protobuf import json_format
from pulumi.runtime import proto
from pulumi_policy import EnforcementLevel
from pulumi_policy import policy as sdk

from policies.exceptions import RuleException
from policies.pack import NAME, policies
from policies.rule import AnyRule
from policies.rules import RULES

Resource = tuple[str, dict[str, Any], str]
"""Type token, properties and logical name."""
_SERVICER: Any = sdk._PolicyAnalyzerServicer
STACK: Resource = ("pulumi:pulumi:Stack", {}, "hpc-t")


class Servicer:
    """The pack as the engine meets it: some of the rules, a configuration of them, exceptions on a day."""

    def __init__(
        self,
        rules: Iterable[AnyRule] = RULES,
        configuration: dict[str, dict[str, Any]] | None = None,
        level: str = "mandatory",
        exceptions: Sequence[RuleException] = (),
        today: date | None = None,
    ) -> None:
        pack = policies(rules, exceptions, today)
        self._servicer: Any = _SERVICER(NAME, "0", pack, EnforcementLevel.ADVISORY)
        if configuration:
            request: Any = proto.ConfigureAnalyzerRequest()
            for name, values in configuration.items():
                own = {"enforcementLevel": level, **values}
                request.policyConfig[name].enforcementLevel = proto.EnforcementLevel.Value(
                    own.pop("enforcementLevel").upper()
                )
                request.policyConfig[name].properties.update(own)
            self._servicer.Configure(request, None)

    def analyze(self, token: str, inputs: dict[str, Any], name: str = "x") -> list[proto.AnalyzeDiagnostic]:
        """Return what the pack reports on one resource, as the engine receives it."""
        request: Any = proto.AnalyzeRequest(type=token, urn=urn(token, name), name=name)
        request.properties.update(inputs)
        return list(self._servicer.Analyze(request, None).diagnostics)

    def analyze_stack(self, resources: Iterable[Resource]) -> list[proto.AnalyzeDiagnostic]:
        """Return what the pack reports on a stack of these resources (their outputs), as the engine receives it."""
        request: Any = proto.AnalyzeStackRequest()
        for token, outputs, name in (STACK, *resources):
            resource = request.resources.add(type=token, urn=urn(token, name), name=name)
            resource.properties.update(outputs)
        return list(self._servicer.AnalyzeStack(request, None).diagnostics)

    def schemas(self) -> dict[str, dict[str, Any]]:
        """Return the schemas of the policies' configurations as the engine receives them."""
        found = self._servicer.GetAnalyzerInfo(None, None).policies
        return {policy.name: json_format.MessageToDict(policy.configSchema.properties) for policy in found}


def token_of(manifest: dict[str, Any]) -> str:
    """Return the type token that the provider gives to a manifest."""
    version = manifest["apiVersion"]
    return f"kubernetes:{version if '/' in version else f'core/{version}'}:{manifest['kind']}"


def urn(token: str, name: str) -> str:
    """Return the URN of a resource."""
    return f"urn:pulumi:t::p::{token}::{name}"
