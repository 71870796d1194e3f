"""The cluster's release serves the API version of an object."""

from collections.abc import Iterator

from pydantic import Field

from core.apis.api_lifecycle import LIVES, Life, Release
from core.apis.kinds import Kind
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.rule import Parameters, Rule

_NEWEST: Release = (1, 999)
_BY_KIND: dict[tuple[str, str, str], Life] = {
    (life.group, life.version, kind): life for life in LIVES for kind in life.kinds
}


class ApiServed(Parameters):
    """The cluster's release."""

    kubernetes: str = Field(
        default="",
        pattern=r"^([0-9]{1,2}\.[0-9]{1,3}(\.[0-9]+)?)?$",
        description='Kubernetes release of the cluster, e.g. "1.17" for OpenShift 4.4; empty means the newest',
    )

    @property
    def release(self) -> Release:
        """The release as numbers."""
        parts = self.kubernetes.split(".")
        return (int(parts[0]), int(parts[1])) if self.kubernetes else _NEWEST


def _examine(subject: Obj, _: Inventory, parameters: ApiServed) -> Iterator[Violation]:
    life = _BY_KIND.get((subject.group, subject.version, subject.kind))
    if life is None:
        return
    release = parameters.release
    api = f"{subject.api_version} {subject.kind}"
    if life.removed is not None and release >= life.removed:
        yield subject.violation(
            f"{api} is not served from {_release_text(life.removed)} on; use {life.instead}", "apiVersion"
        )
    elif life.since is not None and release < life.since:
        message = (
            f"{api} is not served before {_release_text(life.since)}; use {life.instead} in {parameters.kubernetes}"
        )
        yield subject.violation(message, "apiVersion")


def _release_text(release: Release) -> str:
    return f"Kubernetes {release[0]}.{release[1]}"


API_SERVED = Rule(
    name="api-served",
    what="An object's apiVersion is served by the cluster's Kubernetes release and its operators.",
    why='The apply stops halfway with `no matches for kind "DaemonSet" in version "extensions/v1beta1"`; the objects '
    "applied before it remain.",
    remedy="Use the version that the finding names, whose fields may differ, or set the parameter kubernetes to the "
    "cluster's release",
    source="E-20, E-42",
    severity=Severity.ADVISORY,
    parameters=ApiServed,
    examine=_examine,
    kinds=tuple(Kind(group, "", kind, "") for group, kind in sorted({(group, kind) for group, _, kind in _BY_KIND})),
)
