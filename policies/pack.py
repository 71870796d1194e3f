"""The rules as Pulumi policies. Importing this starts no server; `policies/__main__.py` alone does."""

from collections.abc import Mapping
from typing import Any

from pulumi_policy import (
    EnforcementLevel,
    Policy,
    PolicyConfigSchema,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
)
from pulumi_policy import Severity as PulumiSeverity

from policies.rule import Limits, Rule
from policies.rules import RULES
from policies.values import Unknown, plain

NAME = "hpc"
MAXIMUM = "maximum"


def policies() -> list[Policy]:
    """Return one mandatory policy per rule."""
    return [_policy(rule) for rule in RULES]


def configuration(limits: Limits) -> dict[str, dict[str, Any]]:
    """Return the content of a `--policy-pack-config` file that holds the rules to `limits`."""
    return {rule.name: {MAXIMUM: limits.gpus} for rule in RULES if rule.name in _SCHEMAS}


_SCHEMAS = {
    "gpu-limit": PolicyConfigSchema(
        {
            MAXIMUM: {
                "type": "integer",
                "minimum": 1,
                "default": Limits().gpus,
                "description": "GPUs of the largest machine",
            }
        }
    )
}


def _policy(rule: Rule) -> ResourceValidationPolicy:
    def validate(arguments: ResourceValidationArgs, report: ReportViolation) -> None:
        maximum = arguments.get_config().get(MAXIMUM)
        limits = Limits() if maximum is None else Limits(gpus=int(maximum))
        manifest = as_manifest(arguments.resource_type, arguments.props, arguments.name)
        for finding in rule.check(manifest, limits):
            report(str(finding), arguments.urn)

    return ResourceValidationPolicy(
        name=rule.name,
        description=rule.what,
        validate=validate,
        enforcement_level=EnforcementLevel.MANDATORY,
        config_schema=_SCHEMAS.get(rule.name),
        severity=PulumiSeverity(rule.severity.value),
        remediation_steps=rule.remedy,
        url=rule.page,
    )


def as_manifest(token: str, props: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a resource's inputs as a manifest; kind and version come from the type token when they are not inputs.

    `token` is e.g. `kubernetes:batch/v1:Job`. Anything that is not an object of a cluster becomes an empty manifest.
    """
    package, _, rest = token.partition(":")
    version, _, kind = rest.partition(":")
    if package != "kubernetes" or not kind:
        return {}
    tree: dict[str, Any] = plain(props)
    identity = {"apiVersion": version.removeprefix("core/"), "kind": kind}
    known = {key: value for key, value in tree.items() if value is not None and not isinstance(value, Unknown)}
    metadata = tree.get("metadata")
    named = {"metadata": {"name": f"({name})", **metadata}} if isinstance(metadata, dict) else {}
    return {**tree, **{key: known.get(key, value) for key, value in identity.items()}, **named}
