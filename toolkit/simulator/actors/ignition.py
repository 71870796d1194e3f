"""Machine configurations: rendering of a pool's, and what it means for containers, as pure functions."""

import base64
import hashlib
import json
import re
from collections.abc import Iterable
from urllib.parse import unquote_to_bytes

from core.apis import kinds
from toolkit.simulator.actors.api import Object
from toolkit.simulator.manifests import manifest, simulated_by

RUNTIME_UNIT = "crio.service"
"""The container runtime's unit on OpenShift 4; a drop-in for another name changes nothing."""

_LIMIT = re.compile(r"^\s*LimitMEMLOCK\s*=\s*(?:infinity|-1)\s*$", re.MULTILINE)
_ULIMIT = re.compile(r"""default_ulimits\s*=\s*\[[^\]]*["']memlock=-1:-1["']""")


def render(pool: str, configs: Iterable[Object]) -> Object:
    """Return the MachineConfig `rendered-<pool>-<hash>` of a pool's configs, merged in the order of their names.

    Later units and files of the same name or path win; drop-ins of one unit are collected; kernel arguments add up.
    """
    version = "2.2.0"
    units: dict[str, Object] = {}
    files: dict[str, Object] = {}
    arguments: list[str] = []
    extensions: set[str] = set()
    for config in sorted(configs, key=lambda machine_config: machine_config["metadata"]["name"]):
        spec = config.get("spec") or {}
        arguments += spec.get("kernelArguments") or []
        extensions |= {*(spec.get("extensions") or [])}
        part = spec.get("config") or {}
        version = (part.get("ignition") or {}).get("version") or version
        for unit in (part.get("systemd") or {}).get("units") or []:
            units[unit["name"]] = _merged_unit(units.get(unit["name"], {}), unit)
        for file in (part.get("storage") or {}).get("files") or []:
            files[file["path"]] = file
    spec = {
        "config": {
            "ignition": {"version": version},
            "systemd": {"units": [units[name] for name in sorted(units)]},
            "storage": {"files": [files[path] for path in sorted(files)]},
        },
        "kernelArguments": arguments,
        **({"extensions": sorted(extensions)} if extensions else {}),
    }
    digest = hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()[:32]
    by = simulated_by("machine-config controller")
    return manifest(kinds.MACHINE_CONFIG, f"rendered-{pool}-{digest}", annotations=by, spec=spec)


def _merged_unit(old: Object, new: Object) -> Object:
    drop_ins = {drop_in["name"]: drop_in for drop_in in [*(old.get("dropins") or []), *(new.get("dropins") or [])]}
    merged = {**old, **new}
    return merged | ({"dropins": [drop_ins[name] for name in sorted(drop_ins)]} if drop_ins else {})


def memlock_unlimited(rendered: Object) -> bool:
    """Return whether containers may lock memory without limit on a node with this configuration.

    Either a drop-in of the runtime's unit lifts its own limit, which containers inherit, or the runtime's
    configuration sets one for them.
    """
    config = rendered["spec"]["config"]
    for unit in (config.get("systemd") or {}).get("units") or []:
        drop_ins = unit.get("dropins") or []
        if unit["name"] == RUNTIME_UNIT and any(_LIMIT.search(drop_in.get("contents") or "") for drop_in in drop_ins):
            return True
    return any(
        file["path"].startswith("/etc/crio/") and _ULIMIT.search(file_text(file))
        for file in (config.get("storage") or {}).get("files") or []
    )


def file_text(file: Object) -> str:
    """Return the content of an Ignition file, which is a data URL."""
    source = str((file.get("contents") or {}).get("source") or "")
    header, _, data = source.partition(",")
    raw = unquote_to_bytes(data)
    return (base64.b64decode(raw) if header.endswith(";base64") else raw).decode(errors="replace")


def sources(configs: Iterable[Object]) -> list[Object]:
    """Return references to a pool's configs, as its status lists them."""
    kind = {"apiVersion": kinds.MACHINE_CONFIG.api_version, "kind": kinds.MACHINE_CONFIG.kind}
    return [{**kind, "name": name} for name in sorted(config["metadata"]["name"] for config in configs)]
