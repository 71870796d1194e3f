"""Nothing that existed before a stack is deleted by it, whichever command is used."""

from typing import Any

import pytest

from tests.engine.kit import PROGRAMS, Cluster, Stack, config_map, thing
from toolkit.cli.shared.paths import ROOT

pytestmark = pytest.mark.engine

_OPTIONS = (
    "replacementTrigger",
    "protect",
    "dependencies",
    "provider",
    "parent",
    "replaceOnChanges",
    "propertyDependencies",
)


def configure(stack: Stack, adopted: list[str], *objects: dict[str, Any], **provider: Any) -> None:
    """Let the stack declare objects, and name the adopted ones."""
    stack.configure(
        *objects,
        provider=stack.provider(**provider),
        adopted=adopted,
        root=str(ROOT),
        objects_program=str(PROGRAMS / "objects.py"),
    )


@pytest.fixture
def theirs(stack: Stack, api: Cluster, namespace: str) -> str:
    """Give the path of a ConfigMap that another client created, and the stack has imported beside one of its own."""
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    api.request("POST", path, {"metadata": {"name": "theirs"}, "data": {"a": "1"}}, manager="kubectl-create")
    stack.use("adopted.py")
    configure(
        stack,
        [f"ConfigMap/{namespace}/theirs"],
        config_map("theirs", namespace, {"a": "1"}, options={"import_": f"{namespace}/theirs"}),
        config_map("ours", namespace, {"a": "1"}),
    )
    up = stack.up()
    assert up.status == 0, up.text
    kept = {name: found.get("retainOnDelete", False) for name, found in stack.resources().items() if "ours" in name}
    assert kept == {"ours": False}
    assert stack.resources()["theirs"]["retainOnDelete"]
    return path


def test_destroy_leaves_it(stack: Stack, api: Cluster, theirs: str) -> None:
    """Plain `pulumi destroy`, without ./hpc, leaves an adopted object and deletes the stack's own."""
    before = api.get(f"{theirs}/theirs")
    destroyed = stack.destroy()
    assert destroyed.status == 0, destroyed.text
    assert api.get(f"{theirs}/theirs") == before
    assert api.get(f"{theirs}/ours") is None
    assert stack.resources() == {}


def test_leaving_the_settings_leaves_it(stack: Stack, api: Cluster, theirs: str) -> None:
    """An object that is removed from settings and from `adopted` is left on the cluster."""
    before = api.get(f"{theirs}/theirs")
    configure(stack, [])
    up = stack.up()
    assert up.status == 0, up.text
    assert api.get(f"{theirs}/theirs") == before
    assert api.get(f"{theirs}/ours") is None
    assert "theirs" not in stack.resources()


def test_a_replacement_leaves_it(stack: Stack, api: Cluster, namespace: str, theirs: str) -> None:
    """A replacement of an adopted object fails, and leaves the object as it is."""
    before = api.get(f"{theirs}/theirs")
    changed = config_map("theirs", namespace, {"a": "2"})
    configure(stack, [f"ConfigMap/{namespace}/theirs"], changed, config_map("ours", namespace, {"a": "1"}))
    assert stack.preview().steps("replace") == {"theirs"}
    up = stack.up()
    assert up.status != 0
    assert 'configmaps "theirs" already exists' in up.text
    assert api.get(f"{theirs}/theirs") == before


def test_its_other_options_hold(stack: Stack, api: Cluster, namespace: str) -> None:
    """An adopted object keeps its other options: the second preview shows no change, and its run number is stored."""
    options = {"replacement_trigger": 3, "replace_on_changes": ["spec"], "protect": True, "depends_on": ["first"]}
    job = config_map("job", namespace, {"a": "1"}, options=options, secret=["data"])
    stack.use("adopted.py")
    recorded = []
    for adopted in ([], [f"ConfigMap/{namespace}/job"]):
        configure(stack, adopted, config_map("first", namespace, {}), job)
        up = stack.up()
        assert up.status == 0, up.text
        unchanged = stack.preview("--expect-no-changes")
        assert unchanged.status == 0, unchanged.text
        recorded.append(stack.resources()["job"])
    before, after = ({key: item.get(key) for key in (*_OPTIONS, "inputs")} for item in recorded)
    for each in (before, after):
        each["inputs"] = str(each["inputs"]).count("4dabf18193072939515e22adb298388d")  # how many secrets
    assert before == after
    assert before["replacementTrigger"] == 3
    assert [item.get("retainOnDelete", False) for item in recorded] == [False, True]
    assert api.get(f"/api/v1/namespaces/{namespace}/configmaps/job")["data"] == {"a": "1"}


def test_its_namespace_stays(stack: Stack, api: Cluster, namespace: str) -> None:
    """A namespace of the stack with an adopted object in it is not deleted."""
    inside = f"{namespace}-ours"
    fields = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": inside}}
    space = thing("space", "kubernetes:core/v1:Namespace", fields)
    stack.use("adopted.py")
    configure(stack, [f"ConfigMap/{inside}/theirs"], space)
    up = stack.up()
    assert up.status == 0, up.text
    path = f"/api/v1/namespaces/{inside}"
    api.request("POST", f"{path}/configmaps", {"metadata": {"name": "theirs"}, "data": {"a": "1"}})
    assert stack.destroy().status == 0
    assert api.get(path)["status"]["phase"] == "Active"
    assert api.get(f"{path}/configmaps/theirs")
    api.core.delete_namespace(inside)
