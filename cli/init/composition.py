"""The settings of a stack on a cluster: its facts, and an example's choices for what cannot be read from it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from cli.init import gpu_policy, node_ranges, operators, optional_parts, places, workloads
from cli.init.decision import MARK, REVIEW, Decision
from cli.init.examples import Example
from cli.init.facts import Cluster, Connection
from cli.init.machine_files import MachineFile, machine_files
from cli.init.machines import Group, known
from cli.init.tenants import fit as fit_tenants
from cli.shared.text import some
from components.mpi_operator import OPERATOR
from hardware.profiles import PROFILES
from stacks.platform import Settings
from stacks.releases import RELEASES, Release

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
    release, given, files = RELEASES[cluster.release], example.given, machine_files(name, groups, reached)
    ours = [group for group in groups if group.traits.has_gpus] or [group for group in groups if group.candidates]
    names = [node.name for group in ours for node in group.nodes]
    same = example.settings.gpu_nodes[0].profile in _machines(ours)
    left_out = (*_NOT_OF_EXAMPLES, *(() if same else _OF_A_MACHINE))
    settings = {
        "release": release.name,
        "cluster": _cluster(name, cluster, reached),
        **({"machines": [file.path for file in files]} if files else {}),
        "nodes": [],
        **{key: value for key, value in given.items() if key not in left_out},
    }
    decisions = [*_hosted(settings, cluster), *_missing_state(cluster), *_nodes(settings, groups, files)]
    left = optional_parts.fit(settings, cluster, example.name)
    decisions += left
    decisions += operators.fit(settings, cluster, release, name)
    decisions += gpu_policy.fit(settings, cluster)
    decisions += _jobs(settings, example.settings, ours, names)
    decisions += fit_tenants(settings, cluster, _gpus(ours) * len(names), name)
    decisions += _noticed(settings, cluster, release, name)
    decisions += _fabric(settings, cluster, [] if left else ours)
    named = {each.path for each in left}
    site = [each for each in places.of_a_site(settings) if each.path not in named]
    return Composition(settings, (*decisions, *site), files)


def _cluster(name: str, cluster: Cluster, reached: Connection) -> dict[str, Any]:
    found: dict[str, Any] = {"kubeconfig": reached.kubeconfig, "context": reached.context, "identifier": name}
    if cluster.simulated:
        return {**found, "simulated": True}
    return found | ({"uid": cluster.uid} if cluster.uid else {})


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
        "user needs LimitMEMLOCK=infinity for crio.service there (docs/existing-cluster.md)",
        mark=REVIEW,
    )


def _missing_state(cluster: Cluster) -> Iterator[Decision]:
    if not cluster.simulated:
        yield Decision(
            ("nodes",),
            "where the Pulumi state is; else it is the backend of the user who runs the engine (docs/state.md)",
            ("state:", '  backend: "s3://BUCKET?region=REGION"'),
        )


def _nodes(settings: dict[str, Any], groups: Sequence[Group], files: Sequence[MachineFile]) -> Iterator[Decision]:
    """Write the nodes, those with GPUs last; yield those whose machine the user must name."""
    of_file = {id(file.group): file for file in files}
    for group in sorted(groups, key=lambda group: (group.may_have_gpus, "master" not in group.nodes[0].roles)):
        file = of_file.get(id(group))
        profile = file.profile if file else group.profile
        decision = None if profile and not file else _which(group, file)
        for name in node_ranges.short(node.name for node in group.nodes):
            entry = {"name": name, "roles": [*group.nodes[0].roles], **({"profile": profile} if profile else {})}
            settings["nodes"].append(entry)
            if decision and group.may_have_gpus:
                yield Decision(("nodes", len(settings["nodes"]) - 1, "roles"), *decision)


def _which(group: Group, file: MachineFile | None) -> tuple[str, tuple[str, ...]]:
    if file is not None:
        return (
            f"no known machine has {group.traits}: complete {file.path}, which says how",
            (),
        )
    unknown = "no label says whether these have GPUs; " if group.traits.has_gpus is None else ""
    none = ", or none where they have no GPUs" if unknown else ""
    own = f", or a file of your own in `machines` with base {' or '.join(group.families)}" if group.families else ""
    return (
        f"which machine these are, of those that have {group.traits}: {unknown}uncomment one line{none}{own}",
        tuple(f"profile: {name}" for name in group.candidates),
    )


def _machines(groups: Sequence[Group]) -> list[str]:
    return [name for group in groups for name in ([group.profile] if group.profile else group.candidates)]


def _gpus(groups: Sequence[Group]) -> int:
    """Return how many GPUs each machine has; 0 where they differ, or are not known."""
    sizes = {each.name: each.gpus or 0 for each in known()}
    found = {
        size
        for group in groups
        for size in ([group.traits.gpus] if group.traits.gpus else [sizes[name] for name in group.candidates])
    }
    return found.pop() if len(found) == 1 else 0


def _jobs(settings: dict[str, Any], example: Settings, groups: Sequence[Group], names: Sequence[str]) -> list[Decision]:
    if "stages" not in settings:
        return []
    theirs = [node.name for node in example.gpu_nodes]
    hcas = [hca.name for name in _machines(groups) for hca in PROFILES[name].hcas]
    settings["stages"], decisions = workloads.fit(settings["stages"], theirs, names, _gpus(groups), hcas)
    return decisions


def _noticed(settings: dict[str, Any], cluster: Cluster, release: Release, stack: str) -> Iterator[Decision]:
    """Yield what is on the cluster that two would own."""
    if settings.get("mpi_operator") and cluster.mpi_operators:
        foreign = [each for each in cluster.mpi_operators if not each.startswith(f"{OPERATOR}/")]
        remedy = f"`./hpc adopt --stack {stack}` imports it before the first update"
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
    for one in cluster.subscriptions:
        if one.package == _SRIOV:
            yield Decision(
                ("fabric",),
                f"the SR-IOV operator is installed in {one.namespace}: ports that it divides must not be offered by "
                "the shared plugin, too; delete its SriovNetworkNodePolicies of the GPU nodes' ports",
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
