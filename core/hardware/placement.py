"""Placement as arithmetic: which pods fit on which nodes at the same time, and in which layouts a job fits."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from pydantic import Field

from core.hardware.profiles import Profile
from core.model import Model
from core.wording import plural

Demand = Mapping[str, int]
_NODES_SHOWN = 8


class Reserve(Model):
    """What a GPU node reserves for itself, so that its pods' limits together leave it room."""

    cpus: int = Field(default=8, ge=0, description="logical CPUs for the system and the Spectrum Scale daemon")
    memory_gib: int = Field(default=144, ge=0, description="GiB: a pagepool of 128 and 16 for the system")


class Share(Model):
    """Part of a machine."""

    cpus: int = Field(gt=0, description="logical CPUs, whole ones")
    memory_gib: int = Field(gt=0, description="GiB")


def share(profile: Profile, gpus: int, reserve: Reserve) -> Share:
    """Return what goes with `gpus` of a machine's GPUs: as large a part of what it does not reserve for itself.

    Raises ValueError when it reserves so much that a GPU gets less than one CPU or one GiB.
    """
    cpus = (profile.cpus - reserve.cpus) // profile.gpus
    memory = (profile.memory_gib - reserve.memory_gib) // profile.gpus
    if cpus < 1 or memory < 1:
        raise ValueError(
            f"a reserve of {plural(reserve.cpus, 'CPU')} and {reserve.memory_gib} GiB leaves a GPU of {profile.name} "
            f"(of {plural(profile.cpus, 'CPU')}, {profile.memory_gib} GiB) less than one of each; lower it"
        )
    return Share(cpus=cpus * gpus, memory_gib=memory * gpus)


def fits(pods: Iterable[Demand], free: Mapping[str, Demand]) -> bool:
    """Say whether all `pods` can be placed on the nodes' `free` resources at once.

    Demands and free resources are whole numbers per resource name. First fit, largest pod first: it may refuse a set
    that some cleverer packing would place, and never accepts one that the scheduler could not place that way.
    """
    remaining = [dict(resources) for resources in free.values()]
    # Nodes only ever get fuller: where one pod had no room, the next of its kind has none.
    first: dict[tuple[tuple[str, int], ...], int] = {}
    for pod in sorted(pods, key=lambda demand: sum(demand.values()), reverse=True):
        kind = tuple(pod.items())
        for index in range(first.get(kind, 0), len(remaining)):
            resources = remaining[index]
            if all(resources.get(name, 0) >= amount for name, amount in kind):
                for name, amount in kind:
                    resources[name] -= amount
                first[kind] = index
                break
        else:
            return False
    return True


def _any_nodes(_: Sequence[str]) -> bool:
    return True


def waves(
    jobs: Sequence[tuple[str, Sequence[Demand]]],
    free: Mapping[str, Demand],
    allowed: Callable[[Sequence[str]], bool] = _any_nodes,
) -> list[list[str]]:
    """Group `jobs` (name, pods), in their order, into waves whose pods all fit at the same time.

    `allowed` says of names whether they may run together, for whatever else than room limits them.

    Without gang scheduling two jobs that do not fit together can each hold half of the nodes and wait for ever; jobs of
    one wave cannot. A job that does not fit even alone gets a wave of its own, where it stays visibly pending.
    """
    grouped: list[list[str]] = []
    pods: list[Demand] = []
    for name, demands in jobs:
        if grouped and fits([*pods, *demands], free) and allowed([*grouped[-1], name]):
            grouped[-1].append(name)
            pods.extend(demands)
        else:
            grouped.append([name])
            pods = list(demands)
    return grouped


class Placed(Model):
    """A layout, and nodes on which it fits."""

    pods: int = Field(gt=0)
    gpus: int = Field(gt=0, description="GPUs per pod")
    on: tuple[tuple[str, int], ...] = Field(description="node, pods on it")

    @property
    def nodes(self) -> int:
        """Number of nodes that it takes."""
        return len(self.on)

    def __str__(self) -> str:
        """Return pods x GPUs per pod x nodes, as jobs are named: 02x08x02."""
        return f"{self.pods:02d}x{self.gpus:02d}x{self.nodes:02d}"


class Plan(Model):
    """What fits, best first; and the reason when nothing does."""

    gpus: int = Field(gt=0, description="requested GPUs")
    options: tuple[Placed, ...] = Field(description="fewest pods first; all pods of one have equally many GPUs")
    reason: str | None = Field(description="None if something fits")

    def table(self) -> str:
        """Return the plan as lines of text with aligned columns, for a preview; the reason if nothing fits."""
        if self.reason is not None:
            return self.reason
        rows = [("layout", "pods", "GPUs per pod", "nodes", "placement")]
        for option in self.options:
            nodes = [f"{node}: {pods}" for node, pods in option.on]
            rows.append((str(option), str(option.pods), str(option.gpus), str(option.nodes), _listed(nodes)))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def plan(free: Mapping[str, int], gpus: int, gpus_per_pod: int | None = None) -> Plan:
    """Return the layouts with which a job can have `gpus` GPUs of the `free` ones (GPUs per node).

    Each divisor of `gpus` is tried as GPUs per pod, or only `gpus_per_pod`, since all workers of a job are equal.
    Fewest pods come first: GPUs of one pod talk over NVLink, those of two pods do not. Each layout is placed on
    as few nodes as can be, and leaves untouched nodes whole. Raises ValueError for less than one GPU.
    """
    if gpus < 1 or (gpus_per_pod is not None and gpus_per_pod < 1):
        raise ValueError(f"a job needs at least one GPU, in pods of at least one, not {gpus} in {gpus_per_pod}")
    sizes = [gpus_per_pod] if gpus_per_pod is not None else range(min(gpus, max(free.values(), default=0)), 0, -1)
    placed = (_place(gpus // size, size, free) for size in sizes if gpus % size == 0)
    options = tuple(option for option in placed if option is not None)
    return Plan(gpus=gpus, options=options, reason=None if options else _reason(free, gpus, gpus_per_pod))


class Gain(Model):
    """GPUs that jobs of one size can have of the free ones: each in one pod, and over several nodes."""

    free: int
    whole: int = Field(description="GPUs in use by jobs that each fit on one node")
    split: int = Field(description="GPUs in use by jobs whose pods may be on several nodes")

    def __str__(self) -> str:
        """Return the gain as a sentence."""
        return (
            f"of {self.free} free GPUs, jobs of one pod use {self.whole}, and jobs over several nodes {self.split}: "
            f"{(self.split - self.whole) / self.free:.0%} more of them"
        )


def gain(free: Mapping[str, int], gpus: int) -> Gain:
    """Return what is gained by splitting jobs of `gpus` GPUs; as many jobs as fit, none of another size."""
    whole = sum(amount // gpus for amount in free.values()) * gpus
    total = sum(free.values())
    return Gain(free=total, whole=whole, split=total // gpus * gpus)


def plan_within(
    domains: Sequence[Mapping[str, int]], gpus: int, gpus_per_pod: int | None = None, *, level: str = "domain"
) -> Plan:
    """Return the layouts with which a job fits in one of `domains` (free GPUs per node of each); as `plan` otherwise.

    Of each layout the domain is taken where it needs the fewest nodes; `level` is what messages call a domain.
    """
    plans = [plan(free, gpus, gpus_per_pod) for free in domains]
    best: dict[int, Placed] = {}
    for option in (option for layouts in plans for option in layouts.options):
        if option.pods not in best or option.nodes < best[option.pods].nodes:
            best[option.pods] = option
    if best:
        return Plan(gpus=gpus, options=tuple(best[pods] for pods in sorted(best)), reason=None)
    most = max(domains, key=lambda free: sum(free.values()), default={})
    return Plan(gpus=gpus, options=(), reason=f"in one {level}: {_reason(most, gpus, gpus_per_pod)}")


def _place(pods: int, gpus: int, free: Mapping[str, int]) -> Placed | None:
    room = {node: count // gpus for node, count in free.items() if count >= gpus}
    unplaced, on = pods, []
    while unplaced > 0 and room:
        enough = [node for node, slots in room.items() if slots >= unplaced]
        if enough:
            node = min(enough, key=lambda name: (free[name], name))
        else:
            node = min(room, key=lambda name: (-room[name], free[name], name))
        placed = min(unplaced, room.pop(node))
        on.append((node, placed))
        unplaced -= placed
    return Placed(pods=pods, gpus=gpus, on=tuple(on)) if unplaced == 0 else None


def _reason(free: Mapping[str, int], gpus: int, gpus_per_pod: int | None) -> str:
    free_gpus = f"free GPUs: {_listed([f'{node}: {count}' for node, count in sorted(free.items())])}"
    total = sum(max(count, 0) for count in free.values())
    if total < gpus:
        return f"{plural(gpus, 'GPU')} wanted, {total} free; wait, or ask for fewer ({free_gpus})"
    if gpus_per_pod is None or gpus % gpus_per_pod:
        return f"{gpus} GPUs are not a whole number of pods with {plural(gpus_per_pod or 0, 'GPU')}; ask for a multiple"
    room = sum(max(count, 0) // gpus_per_pod for count in free.values())
    other = plan(free, gpus).options[0]
    return (
        f"pods with {plural(gpus_per_pod, 'GPU')}: {gpus // gpus_per_pod} wanted, room for {room}; "
        f"the layout {other} would fit, or wait ({free_gpus})"
    )


def _listed(texts: list[str]) -> str:
    hidden = len(texts) - _NODES_SHOWN
    return ", ".join([*texts[:_NODES_SHOWN], f"and {hidden} more"] if hidden > 0 else texts) or "no nodes"
