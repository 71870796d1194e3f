"""Stacks on operators that another tool manages."""

from typing import Any

import pytest

from stacks.loading import settings
from tests.support.recorded import ROOT, built

OLM = ("Subscription", "OperatorGroup", "ClusterServiceVersionPatch")
CASES = [
    ("redpaper-today", ("gpu", "operator"), ("ClusterPolicy",)),
    ("redpaper-today", ("node_feature_discovery",), ("NodeFeatureDiscovery",)),
    ("redpaper-today", ("fabric", "plugin", "operator"), ("NicClusterPolicy",)),
    ("superpod-a100", ("queues", "operator"), ("Kueue",)),
    ("redpaper-today", ("mpi_operator",), ("Deployment", "CustomResourceDefinition")),
]


def with_installed(stack: str, path: tuple[str, ...]) -> dict[str, Any]:
    """Return a stack's settings with an operator that is installed."""
    content = settings.whole(stack, ROOT).data
    *above, last = path
    part = content
    for key in above:
        part[key] = dict(part[key])
        part = part[key]
    part[last] = {key: value for key, value in part[last].items() if key not in ("source", "approval", "starting_csv")}
    part[last]["installed"] = True
    return dict(content)


@pytest.mark.parametrize(("stack", "path", "objects"), CASES)
def test_nothing_of_an_installed_operator_is_declared(
    stack: str, path: tuple[str, ...], objects: tuple[str, ...]
) -> None:
    """A stack on an installed operator declares neither it nor its configuration, and everything else."""
    before, after = built(settings.whole(stack, ROOT).data), built(with_installed(stack, path))
    gone = [item for item in before if item.is_kubernetes and item.urn not in {each.urn for each in after}]
    kinds = {item.type.rpartition(":")[2] for item in gone}
    assert {*objects} <= kinds
    tenants = [item.name for item in before if item.type.startswith("hpc:tenants")]
    assert tenants == [item.name for item in after if item.type.startswith("hpc:tenants")]
    namespace = {item.inputs["metadata"]["namespace"] for item in gone if item.type.endswith(":Subscription")}
    left = [item for item in after if item.type.rpartition(":")[2] in OLM]
    assert not [item for item in left if item.inputs["metadata"]["namespace"] in namespace]


def test_an_installed_gpu_operator_is_monitored_where_that_is_requested() -> None:
    """Alerts and dashboards, which need metrics of an exporter that others configure, are declared on request alone."""
    content = with_installed("redpaper-today", ("gpu", "operator"))
    content["gpu"].pop("monitoring", None)
    requested = {**content, "gpu": {**content["gpu"], "monitoring": {}}}
    declared = [{item.name for item in built(each)} for each in (content, requested)]
    assert ["gpu-monitoring-rule" in names for names in declared] == [False, True]
