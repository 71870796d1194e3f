"""Machine config pools that are paused, degraded, or half-way between two configurations."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.apis import kinds
from policies.manifests.values import read
from stacks.settings.platform import Settings
from toolkit.cli.shared import metadata
from toolkit.cli.shared.hazards import nodes
from toolkit.cli.shared.hazards.hazard import Hazard
from toolkit.cli.shared.hazards.live import Live

Object = Mapping[str, Any]
_ARCHITECTURES = (".x86_64", ".aarch64")
_SOURCE = "Red Hat, updating clusters: paused pools; each kernel gets a driver of its own"


def hazards(_: Settings, live: Live) -> Iterator[Hazard]:
    """Yield each pool whose nodes do not all have its configuration, or will not get the next one."""
    pools = live.list(kinds.MACHINE_CONFIG_POOL)
    listed = live.list(kinds.NODE) if pools else ()
    for pool in pools:
        name = metadata.name(pool)
        kernels = Counter(kernel for node in listed if nodes.pool_of(node) == name and (kernel := _kernel(node)))
        if (what := _state(pool)) or len(kernels) > 1:
            parts = [what] if what else []
            if done := _done(pool):
                parts.append(done)
            if len(kernels) > 1:
                several = ", ".join(f"{kernel} ({number})" for kernel, number in sorted(kernels.items()))
                parts.append(f"its nodes have {len(kernels)} kernels: {several}")
            remedy = _remedy(pool)
            yield Hazard("machine-config-pool", f"MachineConfigPool {name}", "; ".join(parts), remedy, _SOURCE)


def _state(pool: Object) -> str:
    if failed := nodes.condition(pool, "Degraded"):
        return f"Degraded ({nodes.why(failed)})"
    if _paused(pool):
        return "paused: it takes neither updates nor renewed certificates"
    return "Updating" if _half_way(pool) else ""


def _done(pool: Object) -> str:
    count, done = (_count(pool, field) for field in ("machineCount", "updatedMachineCount"))
    return f"{done} of {count} nodes have its configuration" if done < count else ""


def _remedy(pool: Object) -> str:
    if nodes.condition(pool, "Degraded"):
        return "Remove the cause; `oc describe mcp` and the pod machine-config-daemon of the node say more."
    if _paused(pool):
        patch = '{"spec":{"paused":false}}'
        return f"When its nodes may restart: `oc patch mcp {metadata.name(pool)} --type merge -p '{patch}'`."
    return "Wait until all nodes have it before anything else changes nodes or drivers."


def _half_way(pool: Object) -> bool:
    return nodes.condition(pool, "Updating") is not None and bool(_done(pool))


def _paused(pool: Object) -> bool:
    return read(pool, "spec", "paused") is True


def _count(pool: Object, field: str) -> int:
    value = read(pool, "status", field)
    return value if isinstance(value, int) else 0


def _kernel(node: Object) -> str:
    """Return a node's kernel without its architecture: a pool may have two."""
    kernel = str(read(node, "status", "nodeInfo", "kernelVersion") or "")
    endings: Sequence[str] = [end for end in _ARCHITECTURES if end in kernel]
    return kernel.replace(endings[0], "") if endings else kernel
