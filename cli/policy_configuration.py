"""What a stack's settings say to the rules."""

from typing import Any

from stacks.settings import Settings


def configuration(settings: Settings) -> dict[str, dict[str, Any]]:
    """Return the rules' configuration (`policies.configuration`) that holds them to the stack's machines."""
    return {"gpu-limit": {"maximum": settings.profile.gpus}}
