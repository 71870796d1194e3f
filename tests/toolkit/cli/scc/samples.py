"""A namespace, an SCC with its role, and pods; and `./hpc scc explain` over them."""

import json
from pathlib import Path
from typing import Any

import yaml
from typer.testing import CliRunner

from toolkit.cli.scc.command import app

IDS = {"openshift.io/sa.scc.uid-range": "1000680000/10000", "openshift.io/sa.scc.mcs": "s0:c26,c15"}
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "adas", "annotations": IDS}}
MPI = {
    "apiVersion": "security.openshift.io/v1",
    "kind": "SecurityContextConstraints",
    "metadata": {"name": "scc-for-mpi"},
    "allowedCapabilities": ["IPC_LOCK"],
    "runAsUser": {"type": "MustRunAsRange"},
    "seLinuxContext": {"type": "MustRunAs"},
    "volumes": ["emptyDir"],
}
RULE = {
    "apiGroups": ["security.openshift.io"],
    "resources": ["securitycontextconstraints"],
    "verbs": ["use"],
    "resourceNames": ["scc-for-mpi"],
}
RBAC = "rbac.authorization.k8s.io"
ROLE = {
    "apiVersion": f"{RBAC}/v1",
    "kind": "Role",
    "metadata": {"name": "mpi", "namespace": "adas"},
    "rules": [RULE],
}
BINDING = {
    "apiVersion": f"{RBAC}/v1",
    "kind": "RoleBinding",
    "metadata": {"name": "mpi", "namespace": "adas"},
    "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": "mpi"},
    "subjects": [{"kind": "ServiceAccount", "name": "mpi", "namespace": "adas"}],
}
SPEC = {"containers": [{"name": "main", "securityContext": {"capabilities": {"add": ["IPC_LOCK"]}}}]}
POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "worker", "namespace": "adas"},
    "spec": SPEC,
}
PLAIN: dict[str, Any] = {**POD, "spec": {"containers": [{"name": "main"}]}}


def explain(*arguments: object, stdin: str = "") -> Any:
    """Run `hpc scc explain`."""
    return CliRunner().invoke(app, ["explain", *(str(argument) for argument in arguments)], input=stdin)


def write(path: Path, *objects: dict[str, Any]) -> Path:
    """Write objects as one YAML file."""
    path.write_text(yaml.safe_dump_all(objects))
    return path


def verdicts(*arguments: object) -> list[dict[str, Any]]:
    """Run with --json and return what is printed."""
    result = explain(*arguments, "--json")
    assert result.exit_code in (0, 1), result.output
    found: list[dict[str, Any]] = json.loads(result.output)
    return found
