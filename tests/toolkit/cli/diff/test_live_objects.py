"""What an update meets on the cluster: fields of users that it removes, and objects that exist already."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.reviews import created, made, review, same, updated
from toolkit.cli.diff import command as diff
from toolkit.cli.diff import live_objects
from toolkit.cli.diff.stack_status import LastUpdate
from toolkit.cli.shared.cluster_client import RefusedError
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.stack import read
from toolkit.review.sentences import bare

NAME = {"name": "gpus", "namespace": "audio"}
QUOTA: dict[str, Any] = {"metadata": NAME, "spec": {"hard": {"requests.nvidia.com/gpu": "8"}}}
MORE: dict[str, Any] = {**QUOTA, "spec": {"hard": {"requests.nvidia.com/gpu": "16"}}}
SPACE, OTHER = (made("core/v1:Namespace", {"metadata": {"name": each}}) for each in ("audio", "vision"))
NEAR, FAR = (
    made("core/v1:ResourceQuota", {"metadata": {"name": "gpus", "namespace": each}}) for each in ("audio", "vision")
)
FOUND = review(created(SPACE), created(OTHER), created(NEAR), created(FAR), same(made("core/v1:Node", {})))


def entry(manager: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry of managedFields."""
    return {"manager": manager, "operation": "Update", "fieldsV1": fields}


def live(*_: str) -> dict[str, Any]:
    """Return the quota with a user's label and scope, and the label of a controller."""
    users = {"f:metadata": {"f:labels": {"f:team": {}}}, "f:spec": {"f:scopes": {}}}
    owners = [entry("kubectl-label", users), entry("a-controller", {"f:metadata": {"f:labels": {"f:seen": {}}}})]
    metadata = {"labels": {"team": "vision", "seen": "b"}, "managedFields": owners}
    spec = {**QUOTA["spec"], "scopes": ["NotTerminating"]}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {**QUOTA["metadata"], **metadata}, "spec": spec}


def test_a_removal_is_named_with_its_author() -> None:
    """An update that removes a user's label is named, with who wrote it; what the server fills in again is not."""

    def fills_in(body: Mapping[str, Any]) -> Mapping[str, Any]:
        assert body["metadata"]["labels"] == {"seen": "b"}
        return {**body, "spec": {**body["spec"], "scopes": []}}

    before, after = (made("core/v1:ResourceQuota", inputs) for inputs in (QUOTA, MORE))
    (said,) = map(bare, live_objects.removed_field_cautions(review(updated(before, after)), live, fills_in))
    assert said == (
        "The update of ResourceQuota audio/gpus removes metadata.labels.team, written with kubectl-label: the program "
        "does not declare that. To keep it, declare it under extra of the settings."
    )
    assert not [*live_objects.removed_field_cautions(review(same(before)), live, fills_in)]


def test_what_is_declared_is_not_removed() -> None:
    """What a user wrote and the program declares is not removed, and no trial is sent."""
    labels = {"metadata": {**QUOTA["metadata"], "labels": {"team": "vision"}}}
    spec = {"spec": {**MORE["spec"], "scopes": ["NotTerminating"]}}
    before, after = (made("core/v1:ResourceQuota", inputs) for inputs in (QUOTA, labels | spec))
    assert not [*live_objects.removed_field_cautions(review(updated(before, after)), live, lambda _: None)]


def test_everything_that_others_wrote_on_a_definition_is_removed() -> None:
    """A definition is replaced as a whole: labels go, whoever wrote them; what the program declares stays."""
    name = {"name": "mpijobs.kubeflow.org"}
    token = "apiextensions.k8s.io/v1:CustomResourceDefinition"
    before, after = (made(token, {"metadata": {**name, "labels": {"a": text}}, "spec": {}}) for text in ("1", "2"))

    def there(*_: str) -> dict[str, Any]:
        owners = [
            entry("helm", {}),
            entry("pulumi-kubernetes-0a", {}),
            {**entry("apiserver", {}), "subresource": "status"},
        ]
        metadata = {**name, "labels": {"a": "1", "team": "vision"}, "managedFields": owners}
        return {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": metadata,
            "spec": {},
        }

    (said,) = map(bare, live_objects.removed_field_cautions(review(updated(before, after)), there, lambda body: body))
    assert "removes metadata.labels.team, written with helm: the program does not declare" in said


def test_items_of_a_list_with_keys_are_removed_one_by_one() -> None:
    """A user's ports, and fields in ports of the program, are named; those of others, and defaults, are not."""
    service: dict[str, Any] = {"metadata": NAME, "spec": {"ports": [{"name": "x", "port": 1}]}}
    before, after = (
        made("core/v1:Service", {**service, "spec": {**service["spec"], "type": kind}})
        for kind in ("ClusterIP", "NodePort")
    )
    keys = [f'k:{{"port":{port},"protocol":"TCP"}}' for port in (1, 2, 3)]
    users: dict[str, Any] = {keys[0]: {"f:appProtocol": {}, "f:targetPort": {}}, keys[1]: {".": {}, "f:port": {}}}
    others: dict[str, Any] = {keys[0]: {".": {}, "f:name": {}, "f:port": {}}, keys[2]: {".": {}, "f:port": {}}}
    owners = [entry("kubectl-edit", {"f:spec": {"f:ports": users}}), entry("other", {"f:spec": {"f:ports": others}})]
    port = {"protocol": "TCP", "targetPort": 7}
    ports = [{"name": "x", "port": 1, "appProtocol": "p", **port}, {"port": 2, **port}, {"port": 3, **port}]
    there: dict[str, Any] = {"apiVersion": "v1", "kind": "Service", "spec": {"ports": ports}}
    there["metadata"] = {**NAME, "managedFields": owners}

    def fills_in(body: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**body, "spec": {**body["spec"], "ports": [{**item, **port} for item in body["spec"]["ports"]]}}

    (said,) = map(bare, live_objects.removed_field_cautions(review(updated(before, after)), lambda *_: there, fills_in))
    assert "removes spec.ports[0].appProtocol and spec.ports[1], written with kubectl-edit" in said


def test_what_is_there_is_reported_with_the_command() -> None:
    """Objects that are to be created and exist are named, with the command that adopts them."""
    asked = []

    def live(*key: str) -> dict[str, Any] | None:
        asked.append(key[1:])
        return {} if key[3] == "audio" or key[2] == "audio" else None

    assert [bare(each) for each in live_objects.existing_cautions(FOUND, live, "--stack lab")] == [
        "2 objects of those to be created are on the cluster already, and the update would fail there: Namespace audio "
        "and ResourceQuota audio/gpus. ./hpc state adopt --stack lab shows how they differ, and adopts them."
    ]
    assert asked == [("Namespace", "", "audio"), ("Namespace", "", "vision"), ("ResourceQuota", "audio", "gpus")]


def test_a_cluster_that_does_not_show_it() -> None:
    """A kind that may not be read, or a cluster that stops answering, does not end the review."""

    def refused(*_: str) -> None:
        raise RefusedError("it", "do it", "403")

    def gone(*_: str) -> None:
        raise Problem("gone", "wait")

    assert list(live_objects.existing_cautions(FOUND, refused, "")) == []
    assert list(live_objects.existing_cautions(FOUND, gone, "")) == []
    assert list(live_objects.existing_cautions(review(same(SPACE)), gone, "")) == []


def test_a_diff_says_it_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """A review begins with existing objects, but not where an interrupted update may have created them."""
    has_all = SimpleNamespace(find=lambda *_: {}, find_all=lambda *_: [], list=lambda *_: [], dry_run=None)
    monkeypatch.setattr("toolkit.cli.shared.session.cluster", lambda _: has_all)
    wanted: Any = SimpleNamespace(options="--stack lab", settings=read("dev").settings)
    (said,) = diff._with_context(wanted, FOUND, LastUpdate()).cautions
    assert bare(said).startswith("4 objects of those to be created are on the cluster already")
    (said,) = diff._with_context(wanted, FOUND, LastUpdate(cut_off=True)).cautions
    assert "was interrupted" in said
