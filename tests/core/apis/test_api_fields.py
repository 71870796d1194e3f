"""The table of the API's fields."""

import re
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client

from core.apis import fields
from core.apis.fields import Content, root, types
from core.apis.kinds import KINDS

_OURS = frozenset(
    {"AllowedFlexVolume", "GroupStrategy", "IDRange", "MPIJob", "MPIJobSpec", "MPIReplicaSpecs", "MachineConfig"}
    | {"MachineConfigSpec", "Object", "ReplicaSpec", "RunAsUserStrategy", "RunPolicy", "SELinuxContextStrategy"}
    | {"SchedulingPolicy", "SecurityContextConstraints", "CrashLoopBackOffConfig", "KubeletAnonymousAuthentication"}
    | {"KubeletAuthentication", "KubeletAuthorization", "KubeletConfiguration", "KubeletWebhookAuthentication"}
    | {"KubeletWebhookAuthorization", "KubeletX509Authentication", "MemoryReservation", "MemorySwapConfiguration"}
    | {"ShutdownGracePeriodByPodPriority", "UserNamespaces"}
)
"""What the Kubernetes client does not have."""


def test_every_field_is_the_clients() -> None:
    """The table has exactly the fields of the pinned client."""
    declared: dict[str, set[str]] = {}
    models = Path(client.__file__).parent / "models"
    for path in (*models.glob("v1*.py"), *models.glob("rbac_v1_*.py"), *models.glob("core_v1_*.py")):
        text = path.read_text()
        name = re.search(r"^class (?:Core|Rbac)?V\d+(?:alpha\d+|beta\d+)?(\w+)\(", text, re.MULTILINE)
        names = re.search(r"attribute_map\b[^=]*= \{(.*?)\}", text, re.DOTALL)
        if name and names and name[1] in types():
            fields = set(re.findall(r'"\w+": "([^"]+)"', names[1]))
            declared[name[1]] = declared.get(name[1], fields) if "_v1_" not in f"_{path.stem}" else fields
    of_kubernetes = {name: type_ for name, type_ in types().items() if not type_.of_operator}
    assert set(of_kubernetes) - set(declared) == _OURS
    table = {name: set(type_.fields) for name, type_ in of_kubernetes.items() if name not in _OURS}
    assert {name: table[name] ^ declared[name] for name in table if table[name] != declared[name]} == {}


@pytest.mark.parametrize(
    ("path", "content", "many"),
    [
        ("PodSpec.containers", Content.OBJECT, True),
        ("Container.command", Content.TEXT, True),
        ("Container.resources", Content.OBJECT, False),
        ("EnvVar.value", Content.TEXT, False),
        ("PodSpec.hostNetwork", Content.FLAG, False),
        ("JobSpec.backoffLimit", Content.NUMBER, False),
        ("ObjectMeta.labels", Content.TEXTS, False),
        ("ResourceRequirements.limits", Content.QUANTITIES, False),
        ("EmptyDirVolumeSource.sizeLimit", Content.ANYTHING, False),
        ("HTTPGetAction.port", Content.ANYTHING, False),
        ("MPIReplicaSpecs.Worker", Content.OBJECT, False),
    ],
)
def test_marks(path: str, content: Content, many: bool) -> None:
    """A mark of the table that is read as another, so that a level below it is never looked at."""
    name, _, field = path.partition(".")
    found = types()[name].fields[field]
    assert (found.content, found.many, found.type is not None) == (content, many, content is Content.OBJECT)


def test_roots() -> None:
    """A kind of another group that is held to the fields of its namesake."""
    assert root("batch", "Job").name == "Job"
    assert root("example.com", "Job").name == "Object"
    assert root("resource.k8s.io", "ResourceClaim", "v1").name == "Object"
    assert root("networking.k8s.io", "Ingress", "v1").name == "Ingress"
    assert root("networking.k8s.io", "Ingress", "v1beta1").name == "Object"
    assert all("metadata" in root(kind.group, kind.kind).fields for kind in KINDS)


CASES: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    ({"a": 1}, {"a": 1}, {}),
    ({"a": 1, "b": {"c": 1, "d": 2}}, {"b": {"c": 1, "d": 3}, "e": []}, {"a": None, "b": {"d": 3}, "e": []}),
    ({"a": [1, 2]}, {"a": [2]}, {"a": [2]}),
    ({"a": 1}, {"a": True}, {"a": True}),
    ({"a": {"b": 1}}, {"a": "text"}, {"a": "text"}),
]


@pytest.mark.parametrize(("old", "new", "patch"), CASES)
def test_a_patch_makes_the_new_of_the_old(old: dict[str, Any], new: dict[str, Any], patch: dict[str, Any]) -> None:
    """The smallest patch between two values, merged into the old one, is the new one."""
    assert fields.between(old, new) == patch
    assert fields.merged(old, patch) == new


def test_patches_compose() -> None:
    """A composed patch does what both do, and still removes what the first removes."""
    first, second = {"a": None, "b": {"c": 1}}, {"b": {"d": None}, "e": {"f": None}}
    value = {"a": 1, "b": {"c": 0, "d": 0}, "e": {"f": 0, "g": 1}}
    both = fields.composed(first, second)
    assert fields.merged(value, both) == fields.merged(fields.merged(value, first), second)
    assert both == {"a": None, "b": {"c": 1, "d": None}, "e": {"f": None}}
