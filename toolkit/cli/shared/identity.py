"""Which cluster a stack belongs to, compared with the one that it would work on before anything there is touched.

A cluster is known by the UID of its namespace kube-system, which no copy of a kubeconfig, new certificate or new
address changes, and which a cluster that was installed again does not have. It is noted with the state, as tags of the
stack; the settings may name it, too (`cluster.uid`).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolkit.cli.shared import session
from toolkit.cli.shared.backends.backend import CLUSTER_SERVER, CLUSTER_UID, Backend
from toolkit.cli.shared.checkpoints import access, objects
from toolkit.cli.shared.cluster_client import Cluster, RefusedError
from toolkit.cli.shared.console import print_text, print_warning
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.stack import Stack

UID, SERVER = CLUSTER_UID, CLUSTER_SERVER
_NAMESPACE = "/api/v1/namespaces/kube-system"
_PROVIDER = "pulumi:providers:kubernetes"
_NO_STACK = "no stack named"  # the engine's message about a stack that does not exist yet


class ForeignClusterError(Problem):
    """The cluster is not the stack's, or does not identify itself: no command continues with it.

    `why` is that alone, for a command that shows existing objects all the same.
    """

    def __init__(self, why: str, remedy: str = "", consequence: str = "") -> None:
        super().__init__(f"{why}; {consequence}" if consequence else why, remedy)
        self.why = why


@dataclass(frozen=True)
class Identity:
    """One cluster; `server` is the URL at which it was last seen."""

    uid: str
    server: str = ""

    def __str__(self) -> str:
        return f"{self.uid} at {self.server}" if self.server else self.uid


@dataclass(frozen=True)
class ClusterMatch:
    """A stack on a cluster that may be its own: the cluster, and what is noted with the state."""

    present: Identity
    noted: Identity | None

    @property
    def moved(self) -> bool:
        """Whether the cluster is the noted one at another URL."""
        return self.noted is not None and self.noted.uid == self.present.uid and self.noted != self.present


def read(cluster: Cluster) -> Identity:
    """Read the identity of a cluster: one GET of namespace kube-system.

    Raises RefusedError when the server refuses, Problem when it cannot be reached.
    """
    namespace = cluster.get(_NAMESPACE)
    uid = ((namespace or {}).get("metadata") or {}).get("uid")
    if not uid:
        raise RefusedError(
            f"the API server of context {cluster.context!r} has no namespace kube-system",
            "It is not a Kubernetes cluster, or one that is just being installed: see whether the context is right.",
            "no namespace kube-system",
        )
    return Identity(str(uid), cluster.server)


def require(stack: Stack, cluster: Cluster, backend: Backend | None, engine: Engine | None = None) -> ClusterMatch:
    """Return the cluster that a stack is about to work on; call it before the engine starts.

    `backend` is None where it cannot be read here (Pulumi Cloud): the tags are then read from `engine`, or left out.
    Raises ForeignClusterError when the cluster is another than the settings name or the state is about, or refuses to
    say so; Problem when it cannot be reached or, where `engine` is to work on it, when the state has another
    `cluster.identifier` than the settings. A state with objects, and no note whose they are, is about this cluster if
    some of them are on it.
    """
    named, noted = stack.settings.cluster.uid, _noted(stack.name, backend, engine)
    try:
        cluster_identity = read(cluster)
    except RefusedError as error:
        if named or noted:
            raise ForeignClusterError(
                f"stack {stack.name} belongs to the cluster {named or noted}, and whether this is it could "
                f"not be determined: {str(error).splitlines()[0]}",
                "Log in again, or give the account the right to get namespace kube-system.",
            ) from None
        raise
    if named and named != cluster_identity.uid:
        raise _other(
            stack, cluster, f"its settings name {named} (cluster.uid in {stack.platform_file.name})", cluster_identity
        )
    if noted and noted.uid != cluster_identity.uid and _has_objects(stack.name, backend):
        raise _other(stack, cluster, f"its state names {noted}", cluster_identity)
    if noted is None and not objects.any_present(_state(stack.name, backend, engine), cluster):
        raise _other(
            stack,
            cluster,
            "its state has objects, and none of those that were checked is on this cluster",
            cluster_identity,
        )
    if engine is not None:
        _require_same_identifier(stack, backend)
    return ClusterMatch(cluster_identity, noted)


def require_unless_unreachable(stack: Stack, engine: Engine) -> ClusterMatch | None:
    """Do as `require` before a command that changes nothing: it can do without a real cluster that does not answer.

    The engine itself reports then that it shows the state alone; this prints why. None without an answer.
    """
    try:
        return require(stack, session.cluster(stack), stack.backend, engine)
    except ForeignClusterError:
        raise
    except Problem as problem:
        if stack.simulated:
            raise
        print_warning(f"{problem}\nContinuing with the state alone.")
        return None


def require_unless_forbidden(stack: Stack, cluster: Cluster) -> None:
    """Reject another cluster than the stack's, for a command that reads the cluster and runs no engine.

    An account that may not read kube-system is let through only where nothing names the stack of the cluster.
    """
    try:
        require(stack, cluster, stack.backend)
    except RefusedError:
        return


def warn_if_foreign(stack: Stack, cluster: Cluster) -> None:
    """Do as `require_unless_forbidden`, but only warn: for a command that only shows existing objects."""
    try:
        require_unless_forbidden(stack, cluster)
    except ForeignClusterError as error:
        print_warning(f"{error.why}; what follows is of that cluster")
    except Problem as problem:  # without the state the cluster is read all the same
        print_warning(f"whether this is the cluster of stack {stack.name}: {problem}")


def record(stack: Stack, engine: Engine, match: ClusterMatch) -> None:
    """Record with the state which cluster it is about; print what is new in it, once.

    Call it when the stack exists and before the engine creates anything, so that a killed first update is noted, too.
    """
    present = match.present
    if match.noted == present:
        return
    write(stack, engine, present)
    if stack.simulated:
        return
    if match.moved:
        print_text(f"the cluster of stack {stack.name} is now at {present.server}; noted")
    elif stack.settings.cluster.uid is None:
        print_text(
            f"noted: stack {stack.name} belongs to the cluster {present}\n"
            f"This line, below `cluster:` in {stack.platform_file.name}, restricts plain `pulumi` to it, too:\n"
            f"      uid: {present.uid}"
        )


def accept(stack: Stack, engine: Engine, cluster: Cluster, uid: str) -> Identity:
    """Note another cluster as the stack's after a user confirms it by its uid; raise Problem unless it has that one."""
    present = read(cluster)
    if present.uid != uid:
        raise ForeignClusterError(
            f"context {cluster.context!r} leads to the cluster {present}, not to {uid}",
            "Correct cluster.kubeconfig or cluster.context in the settings, or give another UID.",
        )
    named = stack.settings.cluster.uid
    if named not in (None, uid):
        raise ForeignClusterError(
            f"{stack.platform_file.name} names the cluster {named} (cluster.uid), not {uid}",
            "Change it there first; then run this again.",
        )
    write(stack, engine, present)
    return present


def write(stack: Stack, engine: Engine, present: Identity) -> None:
    """Write a cluster into the tags of a stack."""
    for tag, value in ((SERVER, present.server), (UID, present.uid)):
        engine.call("stack", "tag", "set", tag, value, "--stack", stack.name)


def _noted(stack: str, backend: Backend | None, engine: Engine | None) -> Identity | None:
    recorded = backend.tags(stack) if backend else _tags_of_engine(stack, engine) if engine else {}
    return Identity(recorded[UID], recorded.get(SERVER, "")) if recorded.get(UID) else None


def _tags_of_engine(stack: str, engine: Engine) -> Mapping[str, str]:
    try:
        recorded = json.loads(engine.call("stack", "tag", "ls", "--json", "--stack", stack))
    except Problem as problem:
        if _NO_STACK in str(problem):
            return {}
        raise
    return recorded if isinstance(recorded, dict) else {}


def _state(stack: str, backend: Backend | None, engine: Engine | None) -> list[Mapping[str, Any]]:
    """Return the resources of a state; none where no one can read it here."""
    if backend is not None:
        try:
            return [*backend.resources(stack)]
        except Problem:  # a damaged one: what works by it reports that, and `restore` must get past here
            return []
    try:
        document = access.export(engine) if engine else {}
    except Problem as problem:
        if _NO_STACK in str(problem):
            return []
        raise
    return list((document.get("deployment") or {}).get("resources") or ())


def _has_objects(stack: str, backend: Backend | None) -> bool:
    """Whether the state is about anything at all; one that cannot be read here may be."""
    if backend is None:
        return True
    latest = backend.checkpoint(stack)
    return bool(latest.get("resources") or latest.get("pending_operations"))


def _require_same_identifier(stack: Stack, backend: Backend | None) -> None:
    """Reject a changed identifier: the provider would replace every object, creating first what has its name taken."""
    resources, identifier = _state(stack.name, backend, None), stack.settings.cluster.identifier
    providers = {
        f"{resource['urn']}::{resource.get('id')}": (resource.get("inputs") or {}).get("clusterIdentifier")
        for resource in resources
        if resource.get("type") == _PROVIDER
    }
    recorded = sorted({str(value) for resource in resources if (value := providers.get(str(resource.get("provider"))))})
    if recorded and identifier not in recorded:
        raise Problem(
            f"cluster.identifier is {identifier!r} in {stack.platform_file.name}, and {recorded[0]!r} in the state of "
            f"stack {stack.name}: every object would be replaced, which fails because its name is taken",
            f"Write `identifier: {recorded[0]}` again. It cannot change while the stack has objects.",
        )


def _other(stack: Stack, cluster: Cluster, reason: str, present: Identity) -> ForeignClusterError:
    if stack.simulated:
        remedy = (
            f"`./hpc sim clean --name {stack.cluster_name}` removes the simulated cluster with its state; a state that "
            "is stored elsewhere needs another stack, or its own cluster."
        )
    else:
        remedy = (
            f"Correct cluster.kubeconfig or cluster.context in {stack.file.name}, or give the other cluster a stack "
            "of its own. If the stack really moves there: "
            f"`./hpc state accept-cluster {stack.options} {present.uid}`, then `./hpc pulumi {stack.options} refresh`, "
            f"`./hpc up {stack.options}`."
        )
    return ForeignClusterError(
        f"this is not the cluster of stack {stack.name}: {reason}, and context {cluster.context!r} leads to {present}",
        remedy,
        "nothing was read or changed there",
    )
