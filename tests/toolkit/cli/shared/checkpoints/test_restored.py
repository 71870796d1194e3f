"""An older state fitted to the cluster of today."""

from collections.abc import Mapping
from typing import Any

from toolkit.cli.shared.checkpoints.interrupted import UNCONFIRMED
from toolkit.cli.shared.checkpoints.objects import OtherStacks
from toolkit.cli.shared.checkpoints.restored import CHANGED, difference, fit, without

_STACK = "urn:pulumi:dev::hpc::pulumi:pulumi:Stack::hpc-dev"
_PROVIDER = "urn:pulumi:dev::hpc::pulumi:providers:kubernetes::k8s"


def _urn(name: str) -> str:
    return f"urn:pulumi:dev::hpc::kubernetes:core/v1:ConfigMap::{name}"


def _thing(name: str, *, uid: str = "", provider: str = "1", **more: Any) -> dict[str, Any]:
    return {
        "urn": _urn(name),
        "custom": True,
        "type": "kubernetes:core/v1:ConfigMap",
        "id": f"ns/{name}",
        "inputs": {"metadata": {"name": name, "namespace": "ns"}},
        "outputs": {"metadata": {"name": name, "namespace": "ns", "uid": uid or f"uid-{name}"}},
        "parent": _STACK,
        "provider": f"{_PROVIDER}::{provider}",
        **more,
    }


def _state(*things: dict[str, Any], provider: str = "1", **more: Any) -> dict[str, Any]:
    base = [
        {"urn": _STACK, "type": "pulumi:pulumi:Stack"},
        {"urn": _PROVIDER, "type": "pulumi:providers:kubernetes", "id": provider, "parent": _STACK},
    ]
    return {"resources": [*base, *things], **more}


def _cluster(**uids: str) -> Any:
    def live(version: str, kind: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        assert (version, kind, namespace) == ("v1", "ConfigMap", "ns")
        return {"metadata": {"name": name, "uid": uids[name]}} if name in uids else None

    return live


def _names(deployment: Mapping[str, Any]) -> list[str]:
    return [each["urn"].rpartition("::")[2] for each in deployment["resources"]][2:]


def test_what_came_later_stays_known() -> None:
    """Objects that came after the backup stay in the restored state."""
    found = fit(_state(_thing("a")), _state(_thing("a"), _thing("b")), _cluster(a="uid-a", b="uid-b"))
    assert _names(found.deployment) == ["a", "b"]
    assert found.taken == (_urn("b"),)


def test_what_is_gone_is_not_restored() -> None:
    """Objects that are not on the cluster any more are not restored, nor are dependencies on them."""
    old = _state(_thing("a"), _thing("b", dependencies=[_urn("a")], propertyDependencies={"data": [_urn("a")]}))
    found = fit(old, _state(_thing("b")), _cluster(b="uid-b"))
    assert _names(found.deployment) == ["b"]
    assert found.gone == (_urn("a"),)
    assert found.deployment["resources"][-1]["dependencies"] == []
    assert found.deployment["resources"][-1]["propertyDependencies"] == {"data": []}


def test_what_was_replaced_is_as_it_is_now() -> None:
    """An object that was replaced since is in the restored state as it is now."""
    old = _state(_thing("a", uid="old"), _thing("b", delete=True), _thing("c", pendingReplacement=True))
    now = _state(_thing("a", uid="new"), _thing("b"), _thing("c"))
    found = fit(old, now, _cluster(a="new", b="uid-b", c="uid-c"))
    assert [each.get("outputs") for each in found.deployment["resources"][2:]] == [
        each["outputs"] for each in (_thing("a", uid="new"), _thing("c"), _thing("b"))
    ]
    assert not any(each.get("delete") or each.get("pendingReplacement") for each in found.deployment["resources"])
    assert found.renewed == (_urn("a"), _urn("c"))
    assert found.taken == (_urn("b"),)


def test_what_is_the_same_object_is_as_it_was() -> None:
    """An object that still exists has the inputs of the backup, and is marked as changed for the next update."""
    old = _state(_thing("a", inputs={"metadata": {"name": "a", "namespace": "ns"}, "data": {"x": "old"}}))
    found = fit(old, _state(_thing("a")), _cluster(a="uid-a"))
    assert found.deployment["resources"][2]["inputs"]["data"] == {"x": "old"}
    assert found.deployment["resources"][2]["initErrors"] == [CHANGED]
    assert difference(_state(_thing("a")), found.deployment).changed == (_urn("a"),)


def test_strangers_are_not_taken() -> None:
    """An object with another UID is not imported: it belongs to another client by now."""
    found = fit(_state(), _state(_thing("a")), _cluster(a="another"))
    assert _names(found.deployment) == []


def test_unconfirmed_creates_are_as_they_ended() -> None:
    """A create that was unconfirmed in the backup is as it ended since."""
    found = fit(_state(_thing("a", outputs={}, initErrors=[UNCONFIRMED])), _state(_thing("a")), _cluster(a="uid-a"))
    assert "initErrors" not in found.deployment["resources"][2]


def test_order_and_providers() -> None:
    """Resources come after those that they refer to, with the provider of the present state."""
    parent = {"urn": _urn("group").replace("kubernetes:core/v1:ConfigMap", "hpc:x:Group"), "type": "hpc:x:Group"}
    now = _state(
        parent, _thing("b", provider="2", parent=parent["urn"]), _thing("a", dependencies=[_urn("b")]), provider="2"
    )
    old = _state(_thing("a", uid="before"))
    found = fit(old, now, _cluster(a="uid-a", b="uid-b"))
    assert _names(found.deployment) == ["group", "b", "a"]
    assert {each["provider"] for each in found.deployment["resources"][3:]} == {f"{_PROVIDER}::2"}


def test_nothing_known_of_today() -> None:
    """A backup is restored where the present state is lost."""
    old = _state(_thing("a"), _thing("b"), secrets_providers={"type": "passphrase"})
    found = fit(old, {}, _cluster(a="uid-a"))
    assert _names(found.deployment) == ["a"]
    assert found.deployment["secrets_providers"] == {"type": "passphrase"}
    assert not difference(old, old).any
    assert difference(old, _state(_thing("a", outputs={}), _thing("b"))).reported == (_urn("a"),)


def _neighbours(*uids: str) -> OtherStacks:
    return OtherStacks({("", "ConfigMap", "ns", "a"): frozenset(uids)})


def test_a_stranger_of_the_same_name_does_not_come_back() -> None:
    """An object whose UID is another one than in the backup is not restored."""
    found = fit(_state(_thing("a")), _state(), _cluster(a="stranger"))
    assert (_names(found.deployment), found.gone) == ([], (_urn("a"),))
    assert _names(fit(_state(_thing("a")), _state(), _cluster(a="uid-a")).deployment) == ["a"]


def test_what_went_to_another_stack_does_not_come_back() -> None:
    """Objects that went to another stack by `./hpc state split` are not restored, nor their empty components."""
    group = {"urn": f"{_STACK}$hpc:x:Group::group", "type": "hpc:x:Group", "custom": False, "parent": _STACK}
    old = _state(group, _thing("a", parent=group["urn"]))
    found = fit(old, _state(), _cluster(a="uid-a"), _neighbours("uid-a"))
    assert (_names(found.deployment), found.gone) == ([], (_urn("a"),))
    assert _names(fit(old, _state(), _cluster(a="uid-a"), _neighbours("before")).deployment) == ["group", "a"]


def test_without_a_cluster_another_stack_keeps_its_own() -> None:
    """The same without the cluster, by the states alone."""
    old = _state(_thing("a"), _thing("b", dependencies=[_urn("a")]))
    found = without(old, _neighbours("uid-a"))
    assert (_names(found.deployment), found.gone) == (["b"], (_urn("a"),))
    assert found.deployment["resources"][-1]["dependencies"] == []
    assert without(old, _neighbours()).deployment == {**old, "pending_operations": []}


def test_what_is_about_to_be_deleted_stays_known() -> None:
    """An object that is about to be deleted stays in the state as that."""
    leaving = _thing("a", id="ns/a-1", delete=True)
    leaving["inputs"] = leaving["outputs"] = {"metadata": {"name": "a-1", "namespace": "ns", "uid": "uid-1"}}
    now = _state(leaving, _thing("a", id="ns/a-2", uid="uid-2"), provider="2")
    live = {"a-1": "uid-1", "a": "uid-2"}
    found = fit(_state(_thing("a", id="ns/a-1", uid="uid-1")), now, _cluster(**live))
    kept = [(each["id"], each.get("delete", False)) for each in found.deployment["resources"][2:]]
    assert sorted(kept) == [("ns/a-1", True), ("ns/a-2", False)]
    gone = fit(_state(_thing("a")), now, _cluster(**{**live, "a-1": "of somebody else"}))
    assert [each["id"] for each in gone.deployment["resources"][2:]] == ["ns/a-2"]
    alone = fit(_state(_thing("a", id="ns/a-1", uid="uid-2")), _state(leaving), _cluster(**live))
    assert [(each["id"], each.get("delete", False)) for each in alone.deployment["resources"][2:]] == [
        ("ns/a-1", False)
    ]


def test_unfinished_creates_come_back_if_they_are_ours() -> None:
    """An unfinished create is restored if the engine's provider made the object, by its field manager."""
    labels = {"app.kubernetes.io/part-of": "hpc"}
    inputs = {"metadata": {"name": "a", "namespace": "ns", "labels": labels}}
    old = _state(_thing("a", inputs=inputs, outputs=inputs, initErrors=[UNCONFIRMED]))

    def live(manager: str) -> Any:
        metadata = {"name": "a", "uid": "uid-a", "labels": labels, "managedFields": [{"manager": manager}]}
        return lambda *words: {"metadata": metadata}  # noqa: ARG005

    assert _names(fit(old, _state(), live("pulumi-kubernetes-1a2b3c4d")).deployment) == ["a"]
    assert _names(fit(old, _state(), live("kubectl-create")).deployment) == []


def test_patches_that_came_later_stay_known() -> None:
    """A patch that came after the backup stays in the restored state, so that it can be removed."""
    patch = _thing("p", type="kubernetes:core/v1:ConfigMapPatch")
    assert fit(_state(), _state(patch), _cluster(p="uid-p")).taken == (_urn("p"),)
    assert fit(_state(), _state(patch), _cluster()).taken == ()
