"""Which changes are made in place and which by a new object."""

import copy
from typing import Any

import pytest
import yaml

from tests.engine.kit import Cluster, Stack, config_map, thing, widget

pytestmark = pytest.mark.engine

_PODS = {"metadata": {"labels": {"a": "b"}}, "spec": {"restartPolicy": "Never", "containers": [{"name": "c"}]}}


def _template(image: str) -> dict[str, Any]:
    made = copy.deepcopy(_PODS)
    made["spec"]["containers"][0]["image"] = image  # type: ignore[index]
    return made


def _objects(namespace: str, second: bool) -> list[dict[str, Any]]:
    """Describe the same objects before and after a change of each."""
    skip = {"pulumi.com/skipAwait": "true"}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "job", "namespace": namespace, "annotations": skip},
        "spec": {"template": _template("two" if second else "one")},
    }
    relabelled = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": "relabelled",
            "namespace": namespace,
            "annotations": skip,
            "labels": {"run": "two" if second else "one"},
        },
        "spec": {"template": _template("one")},
    }
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"{namespace}-volume"},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteMany"],
            "csi": {"driver": "d", "volumeHandle": "two" if second else "one"},
        },
    }
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "binding", "namespace": namespace},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": "edit" if second else "view",
        },
        "subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": namespace}],
    }
    spec = {"n": 2 if second else 1}
    replaced = {"replace_on_changes": ["spec"], "delete_before_replace": True}
    return [
        thing("job", "kubernetes:batch/v1:Job", job),
        thing("relabelled", "kubernetes:batch/v1:Job", relabelled),
        thing("volume", "kubernetes:core/v1:PersistentVolume", volume),
        thing("binding", "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding", binding),
        config_map("settings", namespace, {"a": "2" if second else "1"}),
        widget("in-place", namespace, spec),
        widget("again", namespace, spec, options=replaced),
        widget("again-not", namespace, {"n": 1}, annotations={"note": str(spec)}, options=replaced),
    ]


@pytest.mark.parametrize("mutable", [False, True])
def test_replace_rules(stack: Stack, api: Cluster, namespace: str, widgets: str, mutable: bool) -> None:
    """Changes of immutable fields replace an object; all others are updated in place."""
    base = f"/apis/{widgets}/v1/namespaces/{namespace}/widgets"
    stack.options = {"enable_config_map_mutable": mutable}
    stack.configure(*_objects(namespace, second=False))
    first = stack.up()
    assert first.status == 0, first.text
    uids = {name: api.get(f"{base}/{name}")["metadata"]["uid"] for name in ("in-place", "again", "again-not")}

    stack.configure(*_objects(namespace, second=True))
    preview = stack.preview()
    replaced = {"job", "volume", "binding", "again"} | (set() if mutable else {"settings"})
    assert preview.steps("replace") == replaced, preview.text
    assert preview.steps("update") == {"relabelled", "in-place", "again-not"} | ({"settings"} if mutable else set())
    second = stack.up()
    assert second.status == 0, second.text
    now = {name: api.get(f"{base}/{name}")["metadata"]["uid"] for name in uids}
    assert [name for name in uids if uids[name] != now[name]] == ["again"]
    assert api.get(f"{base}/again")["spec"] == {"n": 2}
    assert api.get(f"/api/v1/namespaces/{namespace}/configmaps/settings")["data"] == {"a": "2"}
    unchanged = stack.preview("--expect-no-changes", "--diff")
    assert unchanged.status == 0, unchanged.text
    assert stack.destroy().status == 0


def test_alias_across_versions(stack: Stack, api: Cluster, namespace: str, widgets: str) -> None:
    """With an alias, another API version of the same kind updates the object in place."""
    path = f"/apis/{widgets}/v1/namespaces/{namespace}/widgets/w"
    stack.configure(widget("w", namespace, {"n": 1}, version="v1beta1"))
    assert stack.up().status == 0
    uid = api.get(path)["metadata"]["uid"]
    aliases = {"aliases": [f"kubernetes:{widgets}/v1beta1:Widget"]}
    stack.configure(widget("w", namespace, {"n": 1, "m": 2}, options=aliases))
    preview = stack.preview()
    assert preview.steps("update") == {"w"}, preview.text
    changed = stack.up()
    assert changed.status == 0, changed.text
    assert (api.get(path)["metadata"]["uid"], api.get(path)["spec"]) == (uid, {"n": 1, "m": 2})
    assert stack.preview("--expect-no-changes").status == 0
    assert stack.refresh().status == 0


def test_cluster_identity(stack: Stack, api: Cluster, namespace: str) -> None:
    """The same cluster at another address replaces nothing."""
    path = f"/api/v1/namespaces/{namespace}/configmaps/settings"
    content = yaml.safe_load(api.kubeconfig.read_text())
    elsewhere = copy.deepcopy(content)
    server = elsewhere["clusters"][0]["cluster"]["server"]
    elsewhere["clusters"][0]["cluster"]["server"] = server.replace("127.0.0.1", "localhost")
    stack.configure(config_map("settings", namespace, {"a": "1"}))
    assert stack.up().status == 0
    uid = api.get(path)["metadata"]["uid"]
    moved = stack.provider(kubeconfig=yaml.safe_dump(elsewhere))
    stack.configure(config_map("settings", namespace, {"a": "1"}), provider=moved)
    preview = stack.preview()
    assert preview.steps("replace") == set(), preview.text
    assert preview.steps("update") == {"cluster"}
    assert stack.up().status == 0
    assert api.get(path)["metadata"]["uid"] == uid
    stack.configure(config_map("settings", namespace, {"a": "1"}), provider={**moved, "cluster_identifier": "another"})
    assert stack.preview().steps("replace") >= {"cluster", "settings"}
