"""The pack's server object, driven in this process with the engine's own messages."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import grpc
from google.protobuf import empty_pb2, json_format, struct_pb2
from pulumi.runtime.proto import analyzer_pb2 as messages

from policies.configuration import ConfigurationError
from policies.exceptions import RuleException
from policies.pack.server import PackServicer
from policies.rule import AnyRule
from policies.rules import RULES
from tests.policies.conftest import Case

Resource = tuple[str, dict[str, Any], str]
"""Type token, properties and logical name."""
STACK: Resource = ("pulumi:pulumi:Stack", {}, "hpc-t")


class _Context:
    """The call's context: the pack aborts through it, and the engine shows the message."""

    def abort(self, code: grpc.StatusCode, details: str) -> None:
        assert code is grpc.StatusCode.INVALID_ARGUMENT
        raise ConfigurationError(details)


_NO_CONTEXT: Any = _Context()


class Servicer:
    """The pack as the engine calls it: some of the rules, a configuration of them, exceptions on a day."""

    def __init__(
        self,
        rules: Iterable[AnyRule] = RULES,
        configuration: dict[str, dict[str, Any]] | None = None,
        level: str = "mandatory",
        exceptions: Sequence[RuleException] = (),
        today: date | None = None,
    ) -> None:
        self._servicer = PackServicer(rules, exceptions, today)
        request = messages.ConfigureAnalyzerRequest()
        for name, values in (configuration or {}).items():
            own = {"enforcementLevel": level, **values}
            request.policyConfig[name].enforcementLevel = messages.EnforcementLevel.Value(
                own.pop("enforcementLevel").upper()
            )
            request.policyConfig[name].properties.update(own)
        self._servicer.Configure(request, _NO_CONTEXT)

    def analyze(self, token: str, inputs: dict[str, Any], name: str = "x") -> list[messages.AnalyzeDiagnostic]:
        """Return what the pack reports on one resource, as the engine receives it."""
        request = messages.AnalyzeRequest(type=token, urn=urn(token, name), name=name)
        request.properties.update(inputs)
        return list(self._servicer.Analyze(request, _NO_CONTEXT).diagnostics)

    def analyze_stack(self, resources: Iterable[Resource]) -> list[messages.AnalyzeDiagnostic]:
        """Return what the pack reports on a stack of these resources (their outputs), as the engine receives it."""
        request = messages.AnalyzeStackRequest()
        for token, outputs, name in (STACK, *resources):
            resource = request.resources.add(type=token, urn=urn(token, name), name=name)
            resource.properties.update(outputs)
        return list(self._servicer.AnalyzeStack(request, _NO_CONTEXT).diagnostics)

    def policies(self) -> dict[str, messages.PolicyInfo]:
        """Return the policies as the engine lists them, by name."""
        found = self._servicer.GetAnalyzerInfo(empty_pb2.Empty(), _NO_CONTEXT).policies
        return {policy.name: policy for policy in found}

    def schemas(self) -> dict[str, dict[str, Any]]:
        """Return the schemas of the policies' configurations, by name."""
        return {
            name: json_format.MessageToDict(policy.configSchema.properties) for name, policy in self.policies().items()
        }


def wired(case: Case) -> Case:
    """Return a case as it comes through the engine, which has but one type of numbers and no order of keys."""
    found = []
    for manifest in case.manifests:
        message = struct_pb2.Struct()
        message.update(manifest)
        found.append(json_format.MessageToDict(message))
    return replace(case, manifests=found)


def token_of(manifest: dict[str, Any]) -> str:
    """Return the type token that the provider gives to a manifest."""
    version = manifest["apiVersion"]
    return f"kubernetes:{version if '/' in version else f'core/{version}'}:{manifest['kind']}"


def urn(token: str, name: str) -> str:
    """Return the URN of a resource."""
    return f"urn:pulumi:t::p::{token}::{name}"
