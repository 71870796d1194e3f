"""Arguments of container-native Storage Scale, for its component and for the simulated operator."""

from typing import Any

REMOTE = {"name": "ess", "id": "215057217487177715", "gui_hosts": ["gui.example.com"], "contact_nodes": ["a", "b"]}
ARGS: dict[str, Any] = {
    "license": "data-access",
    "license_accepted": True,
    "remote": REMOTE,
    "mounted_as": "ess",
    "file_system": "ess3000_4M",
}
