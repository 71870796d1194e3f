"""What others set for a stack's pods, by objects that the stack does not manage."""

from typing import Any

import pytest

from core.apis import kinds
from core.apis.kinds import Kind
from core.apis.names import labels
from tests.support.messages import has
from tests.support.wait_objects import look
from toolkit.cli.shared.cluster_client import Cluster, RefusedError
from toolkit.cli.shared.preflight.constraints import Constraint, cautions, constraints, examine
from toolkit.cli.shared.stack import read
from toolkit.review.sentences import bare

OURS = labels("adas", "tenant")
GPUS = "requests.nvidia.com/gpu"


def obj(name: str, namespace: str = "", **fields: Any) -> dict[str, Any]:
    """Return an object of others."""
    return {"metadata": {"name": name, **({"namespace": namespace} if namespace else {})}, **fields}


def ours(made: dict[str, Any]) -> dict[str, Any]:
    """Return an object with the stack's labels."""
    return {**made, "metadata": {**made["metadata"], "labels": OURS}}


def role(name: str, subject: str, kind: str = "Group", **where: str) -> dict[str, Any]:
    """Return what a binding has beside its name."""
    return {"roleRef": {"kind": "ClusterRole", "name": name}, "subjects": [{"kind": kind, "name": subject, **where}]}


QUOTA: dict[str, Any] = {"status": {"hard": {"pods": "50", GPUS: "16"}, "used": {GPUS: "8"}}}
LIMITS: dict[str, Any] = {
    "spec": {"limits": [{"type": "Container", "max": {"cpu": "8"}, "default": {"memory": "1Gi"}}]}
}
WHOLE: dict[str, Any] = {
    "status": {"namespaces": [{"namespace": "adas"}, {"namespace": "x"}], "total": {"hard": {"pods": "9"}}}
}


@pytest.mark.parametrize(
    ("kind", "found", "name", "text"),
    [
        (kinds.RESOURCE_QUOTA, obj("team", "adas", **QUOTA), "adas/team", f"{GPUS} 8 of 16, pods 0 of 50"),
        (kinds.RESOURCE_QUOTA, obj("team", "gpus", **QUOTA), "gpus/team", f"{GPUS} 8 of 16, pods 0 of 50"),
        (kinds.LIMIT_RANGE, obj("l", "adas", **LIMITS), "adas/l", "Container max cpu 8, Container default memory 1Gi"),
        (kinds.CLUSTER_RESOURCE_QUOTA, obj("all", **WHOLE), "all", "adas: pods 0 of 9"),
        (kinds.LOCAL_QUEUE, obj("q", "adas", spec={"clusterQueue": "other"}), "adas/q", "of ClusterQueue other"),
        (
            kinds.SECURITY_CONTEXT_CONSTRAINTS,
            obj("wide", priority=20, groups=["system:serviceaccounts:adas", "system:nodes"]),
            "wide",
            "priority 20, for system:serviceaccounts:adas",
        ),
        (
            kinds.SECURITY_CONTEXT_CONSTRAINTS,
            obj("own", priority=None, users=["system:serviceaccount:adas:default"]),
            "own",
            "priority 0, for system:serviceaccount:adas:default",
        ),
        (
            kinds.ROLE_BINDING,
            obj("b", "adas", **role("system:openshift:scc:anyuid", "default", "ServiceAccount")),
            "adas/b",
            "SCC anyuid for ServiceAccount adas/default",
        ),
        (
            kinds.CLUSTER_ROLE_BINDING,
            obj("c", **role("system:openshift:scc:privileged", "mpi", "ServiceAccount", namespace="adas")),
            "c",
            "SCC privileged for ServiceAccount adas/mpi",
        ),
        (
            kinds.CLUSTER_ROLE_BINDING,
            obj("d", **role("system:openshift:scc:anyuid", "system:authenticated")),
            "d",
            "SCC anyuid for Group system:authenticated",
        ),
    ],
)
def test_what_others_set_is_named(kind: Kind, found: dict[str, Any], name: str, text: str) -> None:
    """An object of others in the stack's namespaces is shown with what it sets; the same one of the stack is not."""
    assert [*constraints({"adas"}, {"gpus"}, look((kind, [found])))] == [Constraint(kind.kind, name, text)]
    assert [*constraints({"adas"}, {"gpus"}, look((kind, [ours(found)])))] == []


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        (kinds.RESOURCE_QUOTA, obj("team", "elsewhere", **QUOTA)),
        (kinds.LOCAL_QUEUE, obj("q", "gpus")),
        (kinds.CLUSTER_RESOURCE_QUOTA, obj("all", status={"namespaces": [{"namespace": "x"}]})),
        (kinds.SECURITY_CONTEXT_CONSTRAINTS, obj("restricted-v2", groups=["system:authenticated"])),
        (kinds.SECURITY_CONTEXT_CONSTRAINTS, obj("node", users=["system:serviceaccount:adas2:default"])),
        (kinds.ROLE_BINDING, obj("b", "adas", **role("view", "developers"))),
        (kinds.ROLE_BINDING, obj("b", "adas", **role("system:openshift:scc:anyuid", "ann", "User"))),
        (kinds.CLUSTER_ROLE_BINDING, obj("c", **role("system:openshift:scc:privileged", "system:nodes"))),
        (kinds.CLUSTER_ROLE_BINDING, obj("c", **role("system:openshift:scc:restricted-v2", "system:authenticated"))),
    ],
)
def test_what_decides_nothing_about_its_pods_is_left_out(kind: Kind, found: dict[str, Any]) -> None:
    """Objects elsewhere, OpenShift's own for everyone, and rights without an SCC are not shown."""
    assert [*constraints({"adas"}, {"gpus"}, look((kind, [found])))] == []


def test_a_role_of_a_teams_own_gives_an_scc_as_well() -> None:
    """A binding counts by what its role grants, not by the role's name."""
    scc = {"apiGroups": ["security.openshift.io"], "resources": ["securitycontextconstraints"], "verbs": ["use"]}
    objects = {
        kinds.ROLE: [
            obj("notebooks", "adas", rules=[{**scc, "resourceNames": ["wide"]}]),
            obj("quotas", "adas", rules=[{"apiGroups": [""], "resources": ["resourcequotas"], "verbs": ["get"]}]),
        ],
        kinds.CLUSTER_ROLE: [obj("all", rules=[scc])],
        kinds.ROLE_BINDING: [
            obj(
                name, "adas", roleRef={"kind": kind, "name": name}, subjects=[{"kind": "ServiceAccount", "name": "mpi"}]
            )
            for kind, name in (("Role", "notebooks"), ("Role", "quotas"), ("ClusterRole", "all"))
        ],
    }

    def listed(kind: Kind, _namespace: str = "") -> list[dict[str, Any]]:
        return objects.get(kind, [])

    assert [*constraints({"adas"}, (), listed)] == [
        Constraint("RoleBinding", "adas/notebooks", "SCC wide for ServiceAccount adas/mpi"),
        Constraint("RoleBinding", "adas/all", "every SCC for ServiceAccount adas/mpi"),
    ]


def test_queues_of_a_cohort_are_those_of_the_stacks_own() -> None:
    """A queue of others is shown where it shares a cohort with one of the stack."""
    own, beside, alone = (
        obj(name, spec={"cohortName": cohort}) for name, cohort in (("a", "c"), ("b", "c"), ("d", "e"))
    )
    found = constraints({"adas"}, (), look((kinds.CLUSTER_QUEUE, [ours(own), beside, alone])))
    assert [*found] == [Constraint("ClusterQueue", "b", "shares cohort c")]


class _Api(Cluster):
    """A cluster with one quota, whose LimitRanges the user may not read."""

    def list(self, kind: Kind, namespace: str = "", **_query: str) -> Any:
        """Return what is in every namespace."""
        assert not namespace or kind in (kinds.ROLE, kinds.ROLE_BINDING)
        if kind == kinds.LIMIT_RANGE:
            raise RefusedError("refused", "", "403, limitranges is forbidden")
        return [obj("team-quota", "adas", **QUOTA)] if kind == kinds.RESOURCE_QUOTA else []


def test_reviews_have_what_the_stack_does_not_declare(tmp_path: Any) -> None:
    """An object that the stack declares is its own, labelled or not; what may not be read is shown as such."""
    settings, cluster = read("dev").settings, _Api(tmp_path, "c")
    first, second = cautions(examine(settings, cluster))
    assert has(bare(first), "ResourceQuota", "adas/team-quota", "not of this stack", f"{GPUS} 8 of 16")
    assert has(bare(second), "LimitRange", "could not be determined", "403, limitranges is forbidden")
    (left,) = examine(settings, cluster, {("ResourceQuota", "adas/team-quota")})
    assert left.kind == "LimitRange"
