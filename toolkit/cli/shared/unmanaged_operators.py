"""Operators that another tool has installed (`installed` in the settings): whether they are there, and which version.

The version is that of OLM's ClusterServiceVersion, or of the controller's image where Helm or manifests brought it.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from components.operators.olm_operator import OlmSubscription
from core.apis import kinds
from core.apis.operator import Operator
from core.apis.operators import operators
from policies.manifests.values import entries
from stacks.checks.version import version_of
from toolkit.cli.shared import metadata
from toolkit.cli.shared.cluster_client import Cluster

_MINOR = re.compile(r"v?(\d+)\.(\d+)")


def problem(place: str, operator: OlmSubscription, cluster: Cluster) -> str:
    """Return why a stack cannot use an operator as it is there; empty where it can."""
    declared = _declaration(operator.package)
    if declared is None:
        return ""
    groups = declared.api_groups
    if groups and all(cluster.get(f"/apis/{group}") is None for group in groups):
        return (
            f"{place}.installed: the cluster does not serve {' or '.join(groups)}, so {operator.package} is not "
            "installed; install it with the tool that manages it, or remove `installed`"
        )
    version, source = installed_version(operator, declared, cluster)
    expected = version_of(operator)
    if version and expected and version != expected:
        return (
            f"{place}.channel {operator.channel}: {source} is version {version}, and the settings are for {expected}; "
            f"set the channel to that of {version}"
        )
    return ""


def installed_version(operator: OlmSubscription, declared: Operator, cluster: Cluster) -> tuple[str, str]:
    """Return major and minor version of an operator and what says so; empty where nothing in its namespace does."""
    for csv in cluster.list(kinds.CLUSTER_SERVICE_VERSION, operator.namespace):
        package, _, version = metadata.name(csv).partition(".")
        if package == operator.package and (minor := minor_version(version)):
            return minor, f"ClusterServiceVersion {operator.namespace}/{metadata.name(csv)}"
    for deployment in cluster.list(kinds.DEPLOYMENT, operator.namespace):
        for image in images(deployment):
            if image_name(image) in declared.images and (minor := minor_version(image.rpartition(":")[2])):
                return minor, f"Deployment {operator.namespace}/{metadata.name(deployment)}"
    return "", ""


def images(deployment: Mapping[str, Any]) -> Iterator[str]:
    """Yield the images of a deployment's containers."""
    for container in entries(deployment, "spec", "template", "spec", "containers"):
        yield str(container.get("image") or "")


def image_name(image: str) -> str:
    """Return the last part of an image's name, without tag and digest."""
    return image.partition("@")[0].rpartition("/")[2].partition(":")[0]


def _declaration(package: str) -> Operator | None:
    return next((declared for declared in operators().values() if declared.package == package), None)


def minor_version(version: str) -> str:
    """Return major and minor of a version such as v25.10.1; empty for another text."""
    match = _MINOR.match(version)
    return f"{match[1]}.{match[2]}" if match else ""
