"""Runs alone, in a process of its own: writes what the program of a checkout registers for a stack, as JSON.

Arguments: the checkout, the folder of the program in it, the stack, the file to write. The interpreter is isolated, and
all that it imports of this project is of that checkout, whatever its age.
"""

import json
import sys
from pathlib import Path

FIELDS = (
    *("type", "urn", "inputs", "parent", "protect", "retain_on_delete", "replace_on_changes", "ignore_changes"),
    *("replacement_trigger", "aliases"),
)


def main(root: str, product: str, stack: str, target: str) -> None:
    """Write `{"resources": [...]}`, or `{"absent": true}`, or `{"error": "..."}`."""
    sys.path.insert(0, product)
    from stacks.loading import settings  # noqa: PLC0415 - of the checkout

    places = (Path(root, f"Pulumi.{stack}.yaml"), Path(product, "stacks", "examples", f"{stack}.yaml"))
    if not any(place.is_file() for place in places):
        content: dict[str, object] = {"absent": True}
    else:
        from toolkit.render import manifests  # noqa: PLC0415

        try:
            found = manifests.registrations(stack)
            content = {"resources": [{field: getattr(each, field, None) for field in FIELDS} for each in found]}
        except settings.SettingsError as error:
            content = {"error": str(error)}
    Path(target).write_text(json.dumps(content, default=str, sort_keys=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
