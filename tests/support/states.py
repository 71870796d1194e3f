"""States of stacks on simulated clusters, as the engine leaves them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cli.stack import Stack


def write_state(stack: Stack, name: str, resources: Sequence[Any]) -> Path:
    """Write the state of the stack `name` on the cluster of `stack`, and return its file."""
    backend = stack.backend
    assert backend is not None
    file = stack.home / "pulumi" / backend.key(name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"checkpoint": {"latest": {"resources": resources}}}))
    return file
