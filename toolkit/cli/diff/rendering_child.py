"""Runs alone, in a process of its own: writes what the program of a checkout registers for a stack, as JSON.

Arguments: the checkout, the folder of the program in it, the stack, the file to write. The interpreter is isolated, and
all that it imports of this project is of that checkout, whatever its age.
"""

import json
import sys
from importlib import import_module
from pathlib import Path

FIELDS = (
    *("type", "urn", "inputs", "parent", "protect", "retain_on_delete", "replace_on_changes", "ignore_changes"),
    *("replacement_trigger", "aliases"),
)
LAYOUTS = (("stacks.loading.settings", "toolkit.render.manifests"), ("stacks.settings", "rendering.manifests"))
"""Modules of settings and of manifests in a checkout: today's, and those of 0.1.0."""


def main(root: str, product: str, stack: str, target: str) -> None:
    """Write `{"resources": [...]}`, or `{"absent": true}`, or `{"error": "..."}`."""
    sys.path.insert(0, product)
    places = (Path(root, f"Pulumi.{stack}.yaml"), Path(product, "stacks", "examples", f"{stack}.yaml"))
    if not any(place.is_file() for place in places):
        content: dict[str, object] = {"absent": True}
    else:
        layout = LAYOUTS[0] if Path(product, "toolkit").is_dir() else LAYOUTS[1]
        settings, manifests = map(import_module, layout)
        try:
            registrations = manifests.registrations(stack)
            content = {"resources": [{field: getattr(item, field, None) for field in FIELDS} for item in registrations]}
        except settings.SettingsError as error:
            content = {"error": str(error)}
    Path(target).write_text(json.dumps(content, default=str, sort_keys=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
