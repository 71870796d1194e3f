"""JSON patches, applied."""

import copy
from collections.abc import Iterable, Mapping
from typing import Any


def applied(tree: Any, operations: Iterable[Mapping[str, Any]]) -> Any:
    """Apply operations as RFC 6902 says, as far as the webhook uses them."""
    box = {"": copy.deepcopy(tree)}
    for operation in operations:
        *path, last = [key.replace("~1", "/").replace("~0", "~") for key in operation["path"].split("/")]
        target: Any = box
        for key in path:
            target = target[int(key) if isinstance(target, list) else key]
        if operation["op"] == "remove":
            del target[last]
        else:
            assert operation["op"] == "add" or isinstance(target, list) or last in target
            target[int(last) if isinstance(target, list) else last] = copy.deepcopy(operation["value"])
    return box[""]
