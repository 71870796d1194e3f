"""Taints that pods bear."""

from collections.abc import Iterable
from typing import Any, Literal

from pydantic import Field

from components.base.model import Model
from components.base.topology import LabelKey, LabelValue
from core.apis import names


class Toleration(Model):
    """One entry of a pod's `tolerations`."""

    key: str = Field(min_length=1, description="key of the taint")
    value: str | None = Field(default=None, description="value of the taint; None tolerates every value")
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None = Field(
        default=None, description="effect of the taint; None tolerates every effect"
    )

    def manifest(self) -> dict[str, Any]:
        """Return it as Kubernetes has it."""
        how = {"operator": "Exists"} if self.value is None else {"operator": "Equal", "value": self.value}
        return {"key": self.key, **how, **({"effect": self.effect} if self.effect else {})}


class Taint(Model):
    """One entry of a node's `taints`, which pods without a toleration stay off."""

    key: LabelKey = Field(description="e.g. nvidia.com/gpu")
    value: LabelValue | None = Field(default=None, description="None: none")
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] = Field(
        default="NoSchedule", description="what it does to pods that do not tolerate it"
    )

    def __str__(self) -> str:
        """Return it as `oc adm taint` has it."""
        return f"{self.key}{'' if self.value is None else f'={self.value}'}:{self.effect}"

    @property
    def keeps_off(self) -> bool:
        """Whether pods that do not tolerate it stay off, and not only where there is another node."""
        return self.effect != "PreferNoSchedule"

    @property
    def toleration(self) -> Toleration:
        """What bears it."""
        return Toleration(key=self.key, value=self.value, effect=self.effect)

    def manifest(self) -> dict[str, str]:
        """Return it as Kubernetes has it."""
        return {"key": self.key, **({} if self.value is None else {"value": self.value}), "effect": self.effect}


def bearing(taints: Iterable[Taint], usual: tuple[Toleration, ...] = ()) -> tuple[Toleration, ...]:
    """Return tolerations for taints, after those that pods have anyway; none is there twice."""
    return tuple(dict.fromkeys((*usual, *(taint.toleration for taint in taints))))


GPU_TAINT = Toleration(key=names.GPU_RESOURCE, effect="NoSchedule")
"""Bears the taint of nodes reserved for GPU jobs, as NVIDIA's own manifests do."""
