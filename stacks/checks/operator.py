"""Operators of OperatorHub that settings install, and what they do not support."""

from collections.abc import Iterator

from pydantic import BaseModel

from components.operators.olm_operator import OlmSubscription
from core.apis.operators import operators
from stacks.settings.platform import Settings


def problems(settings: Settings) -> Iterator[str]:
    """Yield every operator that is to watch its own namespace only and supports no less than the whole cluster."""
    clusterwide = {operator.package for operator in operators().values() if operator.clusterwide}
    for place, operator in subscriptions(settings):
        if operator.own_namespace_only and not operator.installed and operator.package in clusterwide:
            yield (
                f"{place}.own_namespace_only: {operator.package} has no install mode but AllNamespaces: OLM would end "
                "with UnsupportedOperatorGroup; set it to false"
            )


def subscriptions(part: BaseModel, place: str = "") -> Iterator[tuple[str, OlmSubscription]]:
    """Yield the operators of settings with their paths; none is in a list."""
    for name in type(part).model_fields:
        value = getattr(part, name)
        if isinstance(value, OlmSubscription):
            yield f"{place}{name}", value
        elif isinstance(value, BaseModel):
            yield from subscriptions(value, f"{place}{name}.")
