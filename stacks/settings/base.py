"""The fields by which a settings file names what it is merged over (`stacks/loading/bases.py` does it)."""

from pydantic import Field

from components.base.model import Model


class Based(Model):
    """What a file is merged over; nothing of it is left in the settings that the program gets."""

    base: str | None = Field(
        default=None,
        min_length=1,
        description="settings file that this one is merged over, relative to the project's folder, e.g. "
        "bases/site.yaml ([bases](../guide/several-stacks.md#settings-that-stacks-share)); it must not contain secrets",
    )
    without: tuple[str, ...] = Field(
        default=(),
        description="paths to omit from the base, e.g. gpu.gdrcopy, or tenants.vision for an entry of a merged list",
    )
