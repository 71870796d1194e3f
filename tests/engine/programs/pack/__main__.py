"""A policy pack with one mandatory rule."""

from pulumi_policy import (
    EnforcementLevel,
    PolicyPack,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
)


def no_forbidden_objects(args: ResourceValidationArgs, report: ReportViolation) -> None:
    """Refuse objects whose label says that they are forbidden."""
    metadata = args.props.get("metadata") or {}
    if (metadata.get("labels") or {}).get("forbidden") == "true":
        report("this object is forbidden", args.urn)


PolicyPack(
    name="kit",
    enforcement_level=EnforcementLevel.MANDATORY,
    policies=[
        ResourceValidationPolicy(name="forbidden", description="no forbidden objects", validate=no_forbidden_objects)
    ],
)
