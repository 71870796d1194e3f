"""What was recorded, and the part of a DaemonSet that is: where its pods go, what they run, and when they wait."""

import json
from pathlib import Path
from typing import Any

from tests.contract.records import json_text

FILE = Path(__file__).with_name("recorded.json")
Object = dict[str, Any]


def shape(daemon_set: Object) -> Object:
    """Return what of a DaemonSet decides where its pods run, what with, and what they wait for."""
    spec, pod = daemon_set["spec"], daemon_set["spec"]["template"]["spec"]
    volumes = (volume.get("configMap") for volume in pod.get("volumes") or [])
    kept = {
        "containers": [_container(container) for container in pod["containers"]],
        "init": [_container(container) for container in pod.get("initContainers") or []],
        "selector": pod.get("nodeSelector") or {},
        "tolerations": pod.get("tolerations") or [],
        "priority": pod.get("priorityClassName") or "",
        "runtime": pod.get("runtimeClassName") or "",
        "account": pod.get("serviceAccountName") or "",
        "host_pid": bool(pod.get("hostPID")),
        "update": (spec.get("updateStrategy") or {}).get("type") or "RollingUpdate",
        "config_maps": sorted(volume["name"] for volume in volumes if volume),
    }
    return {key: value for key, value in kept.items() if value not in ({}, [], "", False)}


def _container(container: Object) -> Object:
    kept = {
        "name": container["name"],
        "image": container.get("image") or "",
        "command": [*(container.get("command") or []), *(container.get("args") or [])],
        "env": {
            entry["name"]: entry.get("value", "") for entry in container.get("env") or [] if "valueFrom" not in entry
        },
    }
    return {key: value for key, value in kept.items() if value not in ({}, [], "")}


def load() -> Object:
    """Return the record, every case with the shapes of its DaemonSets."""
    record: Object = json.loads(FILE.read_text())
    shapes = record.pop("shapes")
    for case in record["cases"].values():
        if "daemon_sets" in case:
            case["daemon_sets"] = {name: shapes[name][number] for name, number in case["daemon_sets"].items()}
    return record


def save(record: Object) -> None:
    """Write the record, in which a shape that cases have in common is there once."""
    shapes: dict[str, list[Object]] = {}

    def number(name: str, shape: Object) -> int:
        known = shapes.setdefault(name, [])
        if shape not in known:
            known.append(shape)
        return known.index(shape)

    cases = {}
    for case, result in record["cases"].items():
        made = result.get("daemon_sets")
        numbers = {name: number(name, each) for name, each in made.items()} if made is not None else None
        cases[case] = {**result, **({} if numbers is None else {"daemon_sets": numbers})}
    FILE.write_text(json_text({**record, "cases": cases, "shapes": shapes}) + "\n")
