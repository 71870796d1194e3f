"""Taints that pods bear."""

from typing import Any, Literal

from pydantic import Field

from apis import names
from components.model import Model


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


GPU_TAINT = Toleration(key=names.GPU_RESOURCE, effect="NoSchedule")
"""Bears the taint of nodes reserved for GPU jobs, as NVIDIA's own manifests do (platform-facts 1.2)."""
