"""Pods, SCCs and a namespace to vary: each admits or asks for nothing in particular until a test says otherwise."""

from collections.abc import Mapping
from typing import Any

from policies.scc import Namespace, User, Verdict, admit

NAMESPACE = Namespace(
    "adas",
    {
        "openshift.io/sa.scc.uid-range": "1000680000/10000",
        "openshift.io/sa.scc.mcs": "s0:c26,c15",
        "openshift.io/sa.scc.supplemental-groups": "1000690000/10000,1000710000/2",
    },
)
ALICE = User("alice", ("system:authenticated", "developers"))
ANY = {"type": "RunAsAny"}
OWN = {"type": "MustRunAs"}


def scc(name: str = "open", **fields: object) -> dict[str, Any]:
    """Return an SCC that fills in nothing, allows emptyDir, and that everyone may use."""
    return {
        "metadata": {"name": name},
        "runAsUser": ANY,
        "seLinuxContext": ANY,
        "fsGroup": ANY,
        "supplementalGroups": ANY,
        "volumes": ["emptyDir"],
        "groups": ["system:authenticated"],
        **fields,
    }


def pod(
    spec: Mapping[str, Any] | None = None,
    security: Mapping[str, Any] | None = None,
    container: Mapping[str, Any] | None = None,
    annotations: Mapping[str, str] | None = None,
    **fields: object,
) -> dict[str, Any]:
    """Return a pod: more of its spec, its security context, that of its container `main`, more of that container."""
    main: dict[str, Any] = {"name": "main", "image": "tools:1", **fields}
    if container is not None:
        main["securityContext"] = container
    full: dict[str, Any] = {"containers": [main], **(spec or {})}
    if security is not None:
        full["securityContext"] = security
    metadata: dict[str, Any] = {"name": "worker"}
    if annotations is not None:
        metadata["annotations"] = annotations
    return {"metadata": metadata, "spec": full}


def judge(manifest: Mapping[str, Any], *sccs: Mapping[str, Any], namespace: Namespace = NAMESPACE) -> Verdict:
    """Admit a pod that Alice creates."""
    return admit(manifest, namespace, ALICE, sccs)


def messages(verdict: Verdict) -> list[str]:
    """Return the messages of a refusal."""
    assert not verdict.admitted, verdict.scc
    return [reason.message for reason in verdict.reasons]
