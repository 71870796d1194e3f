"""How a kind of Kubernetes objects is described: the form of the tables in `core.apis.kinds` and `core.apis.operators`.

A `Kind` says where objects of one kind live, which other versions of the same kind exist (an object keeps its
identity when a release moves it to another version), and at which paths inside an object a pod template sits.
"""

from dataclasses import dataclass
from typing import Literal

Scope = Literal["Namespaced", "Cluster"]
Path = tuple[str, ...]
EVERY = "*"
"""In a path: every entry of a list."""


@dataclass(frozen=True)
class Kind:
    """One kind of object: `group` is empty for the core API; `pod_templates` are paths to `PodTemplateSpec`s.

    `images` are paths to references to images outside of them.
    """

    group: str
    version: str
    kind: str
    plural: str
    scope: Scope = "Namespaced"
    other_versions: tuple[str, ...] = ()
    pod_templates: tuple[Path, ...] = ()
    images: tuple[Path, ...] = ()

    @property
    def api_version(self) -> str:
        """The `apiVersion` of a manifest, e.g. `kubeflow.org/v1alpha2`."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def token(self) -> str:
        """The Pulumi type token, e.g. `kubernetes:kubeflow.org/v1alpha2:MPIJob`."""
        return self._token(self.version)

    @property
    def other_tokens(self) -> tuple[str, ...]:
        """The type tokens of the same kind in its other versions."""
        return tuple(self._token(version) for version in self.other_versions)

    def _token(self, version: str) -> str:
        return f"kubernetes:{self.group or 'core'}/{version}:{self.kind}"

    def path(self, namespace: str | None = None, name: str = "", sub: str = "") -> str:
        """Return the URL path of an object, a collection (no `name`) or a subresource (`sub`) on the API server."""
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        scope = f"/namespaces/{namespace}" if namespace and self.scope == "Namespaced" else ""
        return root + scope + "".join(f"/{part}" for part in (self.plural, name, sub) if part)
