"""The policies of the pack as the engine lists them: one for each rule, and those that go with no single rule."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pulumi.runtime.proto import analyzer_pb2 as messages

from policies.configuration import BESIDE, COMPLETE, EXCEPTIONS, FOLDERS, OWN_RULES, PARAMETERS, WHOLE_STACK
from policies.findings import Severity, Undetermined
from policies.rule import AnyRule, properties

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
