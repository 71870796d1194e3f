"""The server that the engine talks to (service Analyzer), and the policies as the engine lists them."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent import futures
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import analyzer_pb2 as messages
from pulumi.runtime.proto import analyzer_pb2_grpc, plugin_pb2
from typing_extensions import override

from policies import version
from policies.configuration import (
    BESIDE,
    COMPLETE,
    DISABLED,
    EXCEPTIONS,
    FOLDERS,
    LEVEL,
    OWN_RULES,
    PARAMETERS,
    WHOLE_STACK,
    ConfigurationError,
)
from policies.exceptions import RuleException, load
from policies.pack.examination import Diagnostic, Examination
from policies.pack.resources import Properties, as_objects
from policies.rule import AnyRule, Severity, Undetermined, properties
from policies.rules import RULES

LEVELS = {Severity.MANDATORY: messages.MANDATORY, Severity.ADVISORY: messages.ADVISORY}


@dataclass(frozen=True)
class Policy:
    """What the engine shows of a policy, and checks its configuration against."""

    name: str
    description: str
    severity: Severity
    stack: bool
    schema: Mapping[str, Any] = field(default_factory=dict)
    remedy: str = ""
    url: str = "docs/reference/policies/README.md"

    def message(self) -> messages.PolicyInfo:
        """Return it in the engine's terms."""
        info = messages.PolicyInfo(
            name=self.name,
            description=self.description,
            enforcementLevel=LEVELS[self.severity],
            policy_type=messages.POLICY_TYPE_STACK if self.stack else messages.POLICY_TYPE_RESOURCE,
            remediation_steps=self.remedy,
            url=self.url,
        )
        if self.schema:
            info.configSchema.properties.update(self.schema)
        return info


_OTHERS = (
    Policy(Undetermined.VALUE, "What a rule needs to know is known before the update.", Severity.ADVISORY, stack=False),
    Policy(Undetermined.LINK, "The other end of a link is in the stack.", Severity.ADVISORY, stack=True),
    Policy(EXCEPTIONS, "No exception to a rule has ended.", Severity.MANDATORY, stack=True),
    Policy(
        WHOLE_STACK,
        f"The stack and `{BESIDE}` have both ends of every link; set `{COMPLETE}` to false where that is not all.",
        Severity.MANDATORY,
        stack=True,
        schema={
            COMPLETE: {
                "type": "boolean",
                "default": True,
                "description": "whether an object that a link names and that the stack lacks does not exist",
            },
            BESIDE: {
                "type": "array",
                "items": {"type": "object"},
                "default": [],
                "description": "manifests of other stacks on the cluster, at which links may end",
            },
        },
    ),
    Policy(
        OWN_RULES,
        "Rules of the project's own, beside those of this pack.",
        Severity.MANDATORY,
        stack=True,
        schema={
            FOLDERS: {
                "type": "array",
                "items": {"type": "string"},
                "default": [],
                "description": "folders with their modules, relative to the project's folder",
            },
            PARAMETERS: {
                "type": "object",
                "default": {},
                "description": "levels and parameters of these rules, by name",
            },
        },
    ),
)


def policies_of(rules: Iterable[AnyRule]) -> dict[str, Policy]:
    """Return all policies by name."""
    of_rules = (
        Policy(rule.name, rule.what, rule.severity, rule.links, properties(rule.parameters), rule.remedy, rule.page)
        for rule in rules
    )
    return {policy.name: policy for policy in (*of_rules, *_OTHERS)}


NAME = "hpc"
VERSION = version()
_LONGEST_MESSAGE = 400 * 1024 * 1024  # bytes: a whole stack comes as one message
_THREADS = 4
_ALL = "all"  # the engine has given its level to each policy when it sends it
_LEVELS = {
    messages.ADVISORY: str(Severity.ADVISORY),
    messages.MANDATORY: str(Severity.MANDATORY),
    messages.REMEDIATE: str(Severity.MANDATORY),  # no rule changes an object
    messages.DISABLED: DISABLED,
}


class PackServicer(analyzer_pb2_grpc.AnalyzerServicer):
    """The rules, as the engine configures and calls them."""

    def __init__(
        self, rules: Iterable[AnyRule] = RULES, waived: Sequence[RuleException] | None = None, today: date | None = None
    ) -> None:
        """Raise ExceptionsError when `waived`, by default the project's and the site's, are not well formed."""
        self._rules = tuple(rules)
        self._waived = tuple(load() if waived is None else waived)
        self._today = today or date.today()
        self._policies = policies_of(self._rules)
        self._examination = Examination(self._rules, self._waived, self._today)

    @override
    def GetAnalyzerInfo(self, request: empty_pb2.Empty, context: grpc.ServicerContext) -> messages.AnalyzerInfo:
        """Return the policies with the schemas of their configuration."""
        return messages.AnalyzerInfo(
            name=NAME,
            version=VERSION,
            supportsConfig=True,
            policies=[policy.message() for policy in self._policies.values()],
        )

    @override
    def GetPluginInfo(self, request: empty_pb2.Empty, context: grpc.ServicerContext) -> plugin_pb2.PluginInfo:
        """Return the version."""
        return plugin_pb2.PluginInfo(version=VERSION)

    @override
    def Configure(self, request: messages.ConfigureAnalyzerRequest, context: grpc.ServicerContext) -> empty_pb2.Empty:
        """Take the configuration of all policies; a wrong one ends the call with a message, which the engine shows."""
        settings = {name: _settings(config) for name, config in request.policyConfig.items() if name != _ALL}
        try:
            self._examination = Examination(self._rules, self._waived, self._today, settings)
        except ConfigurationError as error:
            # Not raised: grpc would add a traceback of this file.
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
        self._policies = policies_of((*self._rules, *self._examination.own))
        return empty_pb2.Empty()

    @override
    def ConfigureStack(
        self, request: messages.AnalyzerStackConfigureRequest, context: grpc.ServicerContext
    ) -> messages.AnalyzerStackConfigureResponse:
        """Take the name and tags of the stack, which no rule needs."""
        return messages.AnalyzerStackConfigureResponse()

    @override
    def Analyze(self, request: messages.AnalyzeRequest, context: grpc.ServicerContext) -> messages.AnalyzeResponse:
        """Return what is wrong with the inputs of one resource."""
        properties = Properties(request.properties)
        subjects = tuple(as_objects(request.type, properties, request.name, request.urn))
        return self._response(self._examination.resource(subjects, properties.secrets))

    @override
    def AnalyzeStack(
        self, request: messages.AnalyzeStackRequest, context: grpc.ServicerContext
    ) -> messages.AnalyzeResponse:
        """Return what is wrong between the objects of a stack, by their outputs; what has no URN is the stack's."""
        resources = [(resource, Properties(resource.properties)) for resource in request.resources]
        subjects = tuple(
            subject
            for resource, properties in resources
            for subject in as_objects(resource.type, properties, resource.name, resource.urn, live=True)
        )
        secrets = {text for _, properties in resources for text in properties.secrets}
        return self._response(self._examination.stack(subjects, secrets))

    @override
    def Remediate(self, request: messages.AnalyzeRequest, context: grpc.ServicerContext) -> messages.RemediateResponse:
        """Change nothing: what is declared is what is applied."""
        return messages.RemediateResponse()

    @override
    def Cancel(self, request: empty_pb2.Empty, context: grpc.ServicerContext) -> empty_pb2.Empty:
        """Take note that the engine stops; nothing takes long here."""
        return empty_pb2.Empty()

    def _response(self, diagnostics: Iterable[Diagnostic]) -> messages.AnalyzeResponse:
        return messages.AnalyzeResponse(diagnostics=[self._diagnostic(diagnostic) for diagnostic in diagnostics])

    def _diagnostic(self, diagnostic: Diagnostic) -> messages.AnalyzeDiagnostic:
        return messages.AnalyzeDiagnostic(
            policyName=diagnostic.policy,
            policyPackName=NAME,
            policyPackVersion=VERSION,
            description=self._policies[diagnostic.policy].description,
            # The engine shows the policy's name in front.
            message=diagnostic.text.removeprefix(f"{diagnostic.policy}: "),
            enforcementLevel=LEVELS[diagnostic.severity],
            urn=diagnostic.urn,
        )


def _settings(config: messages.PolicyConfig) -> dict[str, Any]:
    tree = Properties(config.properties).tree
    return {LEVEL: _LEVELS[config.enforcementLevel], **{key: value for key, value in tree.items() if value is not None}}


def serve() -> None:
    """Serve until the engine ends this process; what it waits for on standard output is the port.

    Raises ExceptionsError before that.
    """
    server = grpc.server(
        futures.ThreadPoolExecutor(max_workers=_THREADS),
        options=[("grpc.max_receive_message_length", _LONGEST_MESSAGE)],
    )
    analyzer_pb2_grpc.add_AnalyzerServicer_to_server(PackServicer(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    server.wait_for_termination()
