"""Stacks whose tenant has data sets, or a suite."""

from typing import Any

from tests.support.stack_settings import changed, data

SETS = {"name": "sets", "kind": "claim", "claim": "sets", "storage_class": "nfs", "capacity": "1Ki"}


def stack(*data_sets: dict[str, Any], volume: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the settings of stack pytorch with data sets on a volume of its first tenant."""
    content = data("pytorch")
    content["tenants"][0] |= {"volumes": [SETS | (volume or {})], "data_sets": [*data_sets]}
    return content | {"stages": []}


SUITE = {
    "tenant": "training",
    "schedule": "0 2 * * 6",
    "image": "registry.redhat.io/openshift4/ose-cli-rhel9:v4.21",
}


def with_suite(stack: str = "h100-roce", **changes: Any) -> dict[str, Any]:
    """Return a stack with a suite, changed."""
    return changed(stack, suite=SUITE | changes)
