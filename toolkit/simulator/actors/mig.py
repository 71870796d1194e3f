"""Multi-Instance GPU: how a node's GPUs are divided, by its label, and the operand that divides them."""

from collections.abc import Mapping

from core.apis import kinds, names
from core.hardware.profiles import Profile
from toolkit.simulator import names as sim
from toolkit.simulator import pods
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.informer import Key, Loop
from toolkit.simulator.actors.podactor import PodActor

Layout = Mapping[str, int]
"""Size of a slice -> slices of that size on each GPU."""

CONFIG = names.MIG_CONFIG
"""Label that requests how a node's GPUs are divided."""
STATE = CONFIG + ".state"
DISABLED = "all-disabled"


def layouts(profile: Profile | None) -> Mapping[str, Layout]:
    """Return the configurations that the GPUs of a machine can have; none for GPUs that cannot be divided."""
    configurations = profile.gpu.mig if profile else {}
    return {DISABLED: {}, **configurations} if configurations else {}


def layout(profile: Profile | None, node: Object) -> Layout | None:
    """Return how the GPUs of a node are divided now, None when they are not."""
    return layouts(profile).get(pods.annotations(node).get(sim.MIG_CONFIG, DISABLED)) or None


def resources(profile: Profile, strategy: str, divided: Layout | None) -> dict[str, int]:
    """Return what the device plugin offers of a machine's GPUs.

    A GPU that is divided cannot be used whole: `none` then offers nothing. `single` wants all slices of one size.
    """
    if not divided:
        return {names.GPU_RESOURCE: profile.gpus}
    if strategy == "mixed":
        return {f"{names.MIG_PREFIX}{size}": slices * profile.gpus for size, slices in divided.items()}
    if strategy == "single" and len(divided) == 1:
        return {names.GPU_RESOURCE: sum(divided.values()) * profile.gpus}
    return {}


class MigManager(PodActor):
    """Divides the GPUs of its own node as the node's label says, and says how that went."""

    _loop: Loop

    def start(self) -> None:
        """Follow the node."""
        self._loop = self.loop(self._divide)
        self.runtime.nodes.on_change(self._changed)

    def _changed(self, key: Key, _old: Object | None, node: Object | None) -> None:
        if node is not None and key[1] == pods.node_name(self.pod) and not self.stopped.is_set():
            self._loop.add(key)

    def _divide(self, key: Key) -> None:
        node = self.runtime.nodes.get(key[1])
        layout_name = pods.labels(node).get(CONFIG) if node else None
        if node is None or layout_name is None:
            return
        valid = layout_name in layouts(self.runtime.profile(node))
        state = "success" if valid else "failed"
        meta: Object = {"labels": {STATE: state}}
        if valid:
            meta["annotations"] = {sim.MIG_CONFIG: layout_name}
        if pods.labels(node).get(STATE) != state or (
            valid and pods.annotations(node).get(sim.MIG_CONFIG) != layout_name
        ):
            self.api.patch(kinds.NODE, key[1], {"metadata": meta})
            self.log_line(
                f"{layout_name}: {state}"
                if valid
                else f"error: {layout_name} is not a configuration of this node's GPUs"
            )
