"""The settings of a stack on a cluster: its facts, and an example's choices for what cannot be read from it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from components.operators.mpi_operator import OPERATOR
from core.hardware.profiles import PROFILES
from core.wording import some
from stacks.releases import RELEASES, Release
from stacks.settings.platform import Settings
from toolkit.cli.init import operators, optional_parts, pools, workloads
from toolkit.cli.init.decision import MARK, REVIEW, Decision, of_a_site
from toolkit.cli.init.examples import Example
from toolkit.cli.init.facts import Cluster, Connection
from toolkit.cli.init.machine_kinds import (
    Kind,
    MachineFile,
    gpus,
    machine_files,
    machine_kinds,
    machines,
    which,
    with_gpus,
)
from toolkit.cli.init.machines import Group
from toolkit.cli.init.tenants import fit as fit_tenants

_SRIOV = "sriov-network-operator"
_NOT_OF_EXAMPLES = ("base", "release", "cluster", "machines", "nodes", "state", "adopted", "site", "suite")
"""Settings that are the cluster's own, and those that no example has for another: they name its nodes, or its jobs."""
_OF_A_MACHINE = ("ports", "reserve")
"""Settings that are of the example's machine alone."""


@dataclass(frozen=True)
class Composition:
    """What the file gets."""

    settings: dict[str, Any]
    decisions: tuple[Decision, ...]
    machine_files: tuple[MachineFile, ...] = ()


def compose(name: str, cluster: Cluster, reached: Connection, groups: Sequence[Group], example: Example) -> Composition:
    """Return the settings of the stack `name`, of a release that is known, and what is left to decide."""
    release, files = RELEASES[cluster.release], machine_files(name, groups, reached)
    ours = with_gpus(groups)
    pool = pools.nearest(example.settings, ours)
    example_settings = pools.without(example.effective, pool)
    kinds = pools.in_order(machine_kinds(ours, files, name), pool)
    several = len(kinds) > 1
    left_out = (*_NOT_OF_EXAMPLES, *(() if pool.nodes[0].machine in machines(ours) else _OF_A_MACHINE))
    settings = {
        "release": release.name,
        "cluster": _cluster(name, cluster, reached),
        **({"machines": [file.path for file in files]} if files else {}),
        **({"pools": {}} if several else {}),
        "nodes": [],
        **{key: value for key, value in example_settings.items() if key not in left_out},
    }
    nodes = _nodes_of_pools(settings, groups, kinds) if several else _nodes(settings, groups, files)
    decisions = [*_hosted(settings, cluster), *_missing_state(cluster), *nodes]
    left = optional_parts.leave_out(settings, cluster, example.name)
    decisions += left
    decisions += operators.fit(settings, cluster, release, name)
    decisions += optional_parts.fit_gpu_policy(settings, cluster)
    decisions += _jobs(settings, example.settings, ours, kinds)
    if several:
        pools.rename(settings.get("tenants", ()), example.settings, kinds)
    sizes = {kind.name: kind.total_gpus for kind in kinds} if several else gpus(ours) * len(_names(ours))
    decisions += fit_tenants(settings, cluster, sizes, name)
    decisions += _noticed(settings, cluster, release, name)
    decisions += _fabric(settings, cluster, [] if left else kinds[0].groups if several else ours)
    if several:
        decisions += [*pools.write(settings, kinds, files, pool), *optional_parts.mix_mig(settings)]
        decisions += pools.write_taints(settings, kinds)
    else:
        decisions += pools.without_pools(settings, _names(ours), cluster.nodes)
    named = {decision.path for decision in left}
    site = [decision for decision in of_a_site(settings) if decision.path not in named]
    return Composition(settings, (*decisions, *site), files)


def _names(groups: Sequence[Group]) -> list[str]:
    return [node.name for group in groups for node in group.nodes]


def _cluster(name: str, cluster: Cluster, reached: Connection) -> dict[str, Any]:
    connection: dict[str, Any] = {"kubeconfig": reached.kubeconfig, "context": reached.context, "identifier": name}
    if cluster.simulated:
        return {**connection, "simulated": True}
    return connection | ({"uid": cluster.uid} if cluster.uid else {})


def _hosted(settings: dict[str, Any], cluster: Cluster) -> Iterator[Decision]:
    """Leave out what only MachineConfigs can do where the control plane is hosted."""
    if not cluster.hosted:
        return
    settings["cluster"]["hosted"] = True
    for field in ("machine_config_pool", "tuning"):
        settings.pop(field, None)
    yield Decision(
        ("cluster",),
        "the control plane is hosted, so NodePools of the management cluster configure the nodes: RDMA as an ordinary "
        "user needs LimitMEMLOCK=infinity for crio.service there (docs/guide/existing-cluster.md)",
        mark=REVIEW,
    )


def _missing_state(cluster: Cluster) -> Iterator[Decision]:
    if not cluster.simulated:
        yield Decision(
            ("nodes",),
            "where the Pulumi state is; else it is the backend of the user who runs the engine (docs/guide/state.md)",
            ("state:", '  backend: "s3://BUCKET?region=REGION"'),
        )


def _nodes(settings: dict[str, Any], groups: Sequence[Group], files: Sequence[MachineFile]) -> Iterator[Decision]:
    """Write the nodes, those with GPUs last; yield those whose machine the user must name."""
    of_file = {id(file.group): file for file in files}
    for group in _in_order(groups):
        file = of_file.get(id(group))
        machine = file.machine if file else group.machine
        decision = None if machine and not file else which(group, file)
        for name in workloads.short(node.name for node in group.nodes):
            entry = {"name": name, "roles": [*group.nodes[0].roles], **({"machine": machine} if machine else {})}
            settings["nodes"].append(entry)
            if decision and group.may_have_gpus:
                yield Decision(("nodes", len(settings["nodes"]) - 1, "roles"), *decision)


def _nodes_of_pools(settings: dict[str, Any], groups: Sequence[Group], kinds: Sequence[Kind]) -> Iterator[Decision]:
    """Write the nodes with their pools; yield those whose pool the user must name."""
    of_group = {id(group): kind.name for kind in kinds for group in kind.groups}
    for group in _in_order(groups):
        pool = of_group.get(id(group))
        decision = None if pool else pools.undecided(group, kinds)
        for name in workloads.short(node.name for node in group.nodes):
            entry = {"name": name, "roles": [*group.nodes[0].roles], **({"pool": pool} if pool else {})}
            settings["nodes"].append(entry)
            if decision:
                yield replace(decision, path=("nodes", len(settings["nodes"]) - 1, "roles"))


def _in_order(groups: Sequence[Group]) -> list[Group]:
    return sorted(groups, key=lambda group: (group.may_have_gpus, "master" not in group.nodes[0].roles))


def _jobs(
    settings: dict[str, Any], example: Settings, groups: Sequence[Group], kinds: Sequence[Kind]
) -> list[Decision]:
    if "stages" not in settings:
        return []
    several = len(kinds) > 1
    stages = pools.assigned(settings["stages"], example, kinds if several else ())
    theirs = [node.name for node in example.gpu_nodes]

    def room(of: Sequence[Group]) -> workloads.Room:
        hcas = [hca.name for name in machines(of) for hca in PROFILES[name].hcas]
        return workloads.Room(theirs, _names(of), gpus(of), hcas)

    rooms: dict[str | None, workloads.Room] = {None: room(kinds[0].groups if several else groups)}
    if several:
        rooms |= {kind.name: room(kind.groups) for kind in kinds}
    settings["stages"], decisions = workloads.fit(stages, rooms)
    return decisions


def _noticed(settings: dict[str, Any], cluster: Cluster, release: Release, stack: str) -> Iterator[Decision]:
    """Yield what is on the cluster that two would own."""
    if settings.get("mpi_operator") and cluster.mpi_operators:
        foreign = [operator for operator in cluster.mpi_operators if not operator.startswith(f"{OPERATOR}/")]
        remedy = f"`./hpc state adopt --stack {stack}` imports it before the first update"
        if foreign:
            namespace, _, deployment = foreign[0].partition("/")
            remedy = (
                f"set `installed: true` here where it serves {release.mpi_job.api_version if release.mpi_job else ''} "
                f"MPIJobs, and the stack uses it; or remove it (`oc delete deployment -n {namespace} {deployment}`)"
            )
        yield Decision(
            ("mpi_operator",),
            f"an MPI operator runs already ({some(cluster.mpi_operators)}), and two act on the same MPIJobs: {remedy}",
            mark=MARK if foreign else REVIEW,
        )
    if cluster.sccs and release.scc_base not in cluster.sccs:
        yield Decision(
            ("tenants",),
            f"the cluster has no SCC {release.scc_base}, which OpenShift {release.name} comes with, and from which "
            "that of the tenants is made: restore it",
        )
    for subscription in cluster.subscriptions:
        if subscription.package == _SRIOV:
            yield Decision(
                ("fabric",),
                f"the SR-IOV operator is installed in {subscription.namespace}: ports that it divides must not be "
                "offered by the shared plugin, too; delete its SriovNetworkNodePolicies of the GPU nodes' ports",
            )


def _fabric(settings: dict[str, Any], cluster: Cluster, groups: Sequence[Group]) -> Iterator[Decision]:
    fabric = settings["fabric"]
    layers = {group.traits.link_layer for group in groups if group.traits.link_layer}
    if layers == {"InfiniBand"} and fabric["kind"] != "infiniband":
        yield Decision(("fabric", "kind"), "labels of the nodes name InfiniBand adapters, and this is for Ethernet")
    if layers == {"Ethernet"} and fabric["kind"] == "infiniband":
        yield Decision(("fabric", "kind"), "labels of the nodes name Ethernet adapters, and this is for InfiniBand")
    if fabric["kind"] == "ethernet" and cluster.mtu:
        fabric["pod_mtu"] = cluster.mtu
