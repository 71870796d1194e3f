"""Settings of Kubeflow Trainer."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from components.base.model import Model
from components.operators.trainer import TrainerImages

NONE = "none"


class UpstreamTrainer(TrainerImages):
    """Kubeflow's own release, which the stack installs; it needs `operators.jobset`."""

    kind: Literal["upstream"]


class InstalledTrainer(Model):
    """The cluster already has it, version 2.2 or later, e.g. as part of Red Hat OpenShift AI (from 3.4 on)."""

    kind: Literal["installed"]


def _or_none(value: Any) -> Any:
    return None if value == NONE else value


TrainerSettings = Annotated[
    Annotated[UpstreamTrainer | InstalledTrainer, Field(discriminator="kind")] | None,
    BeforeValidator(_or_none, json_schema_input_type=UpstreamTrainer | InstalledTrainer | Literal["none"] | None),
]
"""How the platform gets Kubeflow Trainer; `none` is None."""
