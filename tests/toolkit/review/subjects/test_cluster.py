"""Another cluster."""

from dataclasses import replace
from typing import Any

from core.pulumi_values import REDACTED
from tests.support.reviews import created, made, reported, review, same, updated
from toolkit.review import comment, json_data, terminal
from toolkit.review.model import CHANGED, Change, Op
from toolkit.review.subjects import cluster

BINDING = {"metadata": {"name": "mpi", "namespace": "a"}, "subjects": [{"kind": "User", "name": "ann"}]}
OTHER = {**BINDING, "subjects": [*BINDING["subjects"], {"kind": "User", "name": "eve"}]}


def provider(context: str, kubeconfig: str = "x") -> Any:
    """Return the provider."""
    return made("pulumi:providers:kubernetes", {"context": context, "kubeconfig": kubeconfig}, "cluster")


def test_the_cluster() -> None:
    """Another cluster in the provider is an alarm."""
    assert reported(cluster.find, review(updated(provider("a"), provider("b")))) == [
        "! provider cluster changes: context b (was a)"
    ]
    assert reported(cluster.find, review(updated(provider("a"), provider("a", "y")))) == [
        "! provider cluster changes: another kubeconfig"
    ]
    assert reported(cluster.find, review(created(provider("a")))) == []
    assert reported(cluster.find, review(same(provider("a")))) == []


def test_what_drifted_is_reported_and_what_repairs_it() -> None:
    """Drift is reported with what repairs it, and additions with a command that removes them."""
    kind = "rbac.authorization.k8s.io/v1:RoleBinding"
    gone = made("core/v1:ConfigMap", {"metadata": {"name": "gone"}})
    binding = Change(Op.UPDATE, made(kind, BINDING), replace(made(kind, OTHER), live=OTHER))
    found = review(repairs=(binding, Change(Op.DELETE, gone, None)))
    said = "\n".join(reported(cluster.find_repairs, found))
    assert "RoleBinding a/mpi differs from what is declared" in said
    assert "ConfigMap gone is gone" in said
    assert "The update leaves this" in said
    patch = "kubectl -n a patch rolebinding.v1.rbac.authorization.k8s.io mpi --type json -p "
    for written in (terminal.write(found), comment.write(found)):
        assert "eve" in written
        assert "--repair" in written
        assert patch in written
    assert [each["op"] for each in json_data.of(found)["repairs"]] == ["update", "delete"]
    drifted = replace(review(binding), drift=True)
    assert patch in terminal.write(drifted)


def test_without_drift_nothing_is_reported() -> None:
    """Without drift there is no section."""
    assert reported(cluster.find_repairs, review()) == []


def test_secrets_stay_hidden() -> None:
    """No value of a secret is in the section."""
    before, after = ({"metadata": {"name": "s"}, "data": {"p": value}} for value in (REDACTED, CHANGED))
    change = Change(Op.UPDATE, made("core/v1:Secret", before), made("core/v1:Secret", after))
    assert "differs from what is declared" in "\n".join(
        reported(cluster.find_repairs, review(change, repairs=(change,)))
    )
