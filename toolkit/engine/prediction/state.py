"""What a state has of an object beside its fields (the official provider's form): inputs, field manager, version."""

import hashlib

from toolkit.engine.prediction.inputs import annotation
from toolkit.engine.prediction.values import Properties

INPUTS = "__inputs"
FIELD_MANAGER = "__fieldManager"
INITIAL_API_VERSION = "__initialApiVersion"
_PATCH_FIELD_MANAGER = "pulumi.com/patchFieldManager"


def field_manager(urn: str, inputs: Properties, outputs: Properties) -> str:
    """Return the name under which fields are owned: the annotation's, the recorded one, or one made from the URN.

    The same for the same resource, so that an object whose create was interrupted is recognised as ours.
    """
    named = annotation(inputs, _PATCH_FIELD_MANAGER)
    old = outputs.get(FIELD_MANAGER)
    return named or (
        old if isinstance(old, str) else f"pulumi-kubernetes-{hashlib.sha256(urn.encode()).hexdigest()[:8]}"
    )
