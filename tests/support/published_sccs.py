"""The SCCs that OpenShift's releases and operators publish, as recorded in `published_sccs.yaml`."""

from collections.abc import Mapping
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import yaml

_FILE = Path(__file__).with_name("published_sccs.yaml")
_FLAGS = (
    *("allowHostDirVolumePlugin", "allowHostIPC", "allowHostNetwork", "allowHostPID", "allowHostPorts"),
    *("allowPrivilegeEscalation", "allowPrivilegedContainer", "readOnlyRootFilesystem"),
)
_CAPABILITIES = {
    "allowed": "allowedCapabilities",
    "added": "defaultAddCapabilities",
    "dropped": "requiredDropCapabilities",
}
_WORDS = {"flags", "lacks", "capabilities", "types"}


def published(group: str) -> tuple[dict[str, Any], ...]:
    """Return the SCCs of a release of OpenShift, or those of `vendors`, as objects; fresh copies."""
    differences = dict(_rows()[group])
    rows = {**_rows().get(differences.pop("like", ""), {}), **differences}
    return tuple(deepcopy(_scc(name, row)) for name, row in rows.items())


@cache
def _rows() -> Mapping[str, Any]:
    rows: Mapping[str, Any] = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    return rows


def _scc(name: str, row: Mapping[str, Any]) -> dict[str, Any]:
    scc = {
        "apiVersion": "security.openshift.io/v1",
        "kind": "SecurityContextConstraints",
        "metadata": {"name": name},
        "users": [],
        "groups": [],
        "priority": None,
        **{flag: flag in row["flags"] for flag in _FLAGS},
        **{field: row["capabilities"][key] for key, field in _CAPABILITIES.items()},
        **{key: {"type": value} if isinstance(value, str) else value for key, value in row["types"].items()},
        **{key: value for key, value in row.items() if key not in _WORDS},
    }
    return {key: value for key, value in scc.items() if key not in row.get("lacks", ())}
