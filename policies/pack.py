"""The rules as Pulumi policies. Importing this starts no server; `policies/__main__.py` alone does."""

from collections.abc import Iterator, Mapping
from typing import Any

from pulumi_policy import (
    EnforcementLevel,
    Policy,
    PolicyConfigSchema,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
)

from policies.check import Checker
from policies.configuration import Configuration
from policies.findings import Doubt, Finding
from policies.objects import Obj
from policies.proxies import plain
from policies.rule import AnyRule
from policies.rules import RULES
from policies.values import Unknown
from policies.world import World

NAME = "hpc"
_PATCH = "Patch"


def policies() -> list[Policy]:
    """Return one policy per rule, and one for what cannot be verified before the update."""
    return [*(_policy(rule) for rule in RULES if not rule.links), _doubts()]


def _policy(rule: AnyRule) -> ResourceValidationPolicy:
    def validate(arguments: ResourceValidationArgs, report: ReportViolation) -> None:
        configuration = Configuration({rule.name: _given(arguments)})
        for finding in _findings(arguments, [rule], configuration):
            if finding.doubt is None:
                report(str(finding), arguments.urn)

    return ResourceValidationPolicy(
        name=rule.name,
        description=rule.what,
        validate=validate,
        enforcement_level=EnforcementLevel(rule.severity.value),
        config_schema=_schema(rule),
        remediation_steps=rule.remedy,
        url=rule.page,
    )


def _doubts() -> ResourceValidationPolicy:
    def validate(arguments: ResourceValidationArgs, report: ReportViolation) -> None:
        found: dict[str, list[str]] = {}
        for finding in _findings(arguments, [rule for rule in RULES if not rule.links], Configuration()):
            if finding.doubt is Doubt.VALUE:
                found.setdefault(f"{finding.object}: {finding.message}", []).append(finding.rule)
        for message, rules in found.items():
            report(f"{message}. Rules that need it: {', '.join(rules)}", arguments.urn)

    return ResourceValidationPolicy(
        name=Doubt.VALUE,
        description="What a rule needs to know is known before the update.",
        validate=validate,
        enforcement_level=EnforcementLevel.ADVISORY,
    )


def _findings(
    arguments: ResourceValidationArgs, rules: list[AnyRule], configuration: Configuration
) -> Iterator[Finding]:
    subject = as_object(arguments.resource_type, arguments.props, arguments.name)
    if subject is not None:
        yield from Checker(rules, configuration).check([subject], World([subject]))


def _given(arguments: ResourceValidationArgs) -> dict[str, Any]:
    return {key: value for key, value in plain(arguments.get_config()).items() if value is not None}


def _schema(rule: AnyRule) -> PolicyConfigSchema | None:
    properties = rule.parameters.model_json_schema().get("properties", {})
    return PolicyConfigSchema(properties) if properties else None


def as_object(token: str, props: Mapping[str, Any], name: str) -> Obj | None:
    """Return a resource's inputs as an object; kind and version come from the type token when they are not inputs.

    `token` is e.g. `kubernetes:batch/v1:Job`. None for anything that is not an object of a cluster.
    """
    package, _, rest = token.partition(":")
    version, _, kind = rest.partition(":")
    if package != "kubernetes" or not kind:
        return None
    unknown: list[Unknown] = []
    tree: dict[str, Any] = plain(props, unknown)
    identity = {"apiVersion": version.removeprefix("core/"), "kind": kind.removesuffix(_PATCH)}
    known = {key: value for key, value in tree.items() if value is not None and not isinstance(value, Unknown)}
    metadata = tree.get("metadata")
    named = {"metadata": {"name": f"({name})", **metadata}} if isinstance(metadata, dict) else {}
    manifest = {**tree, **{key: known.get(key, value) for key, value in identity.items()}, **named}
    return Obj(manifest, partial=kind.endswith(_PATCH), unknown=tuple(unknown))
