"""Kubeconfigs of simulated clusters: one context, a CA and a token, so that the official client is not needed."""

import base64
from dataclasses import dataclass
from pathlib import Path

import yaml

from core.simulated import context_name
from core.yaml import text as yaml_text


@dataclass(frozen=True, repr=False)
class Kubeconfig:
    """Where an API server is, and who asks it; the token is not shown when it is printed."""

    server: str
    ca: str
    """In PEM."""
    token: str


def text(*, cluster: str, server: str, ca: bytes, user: str, token: str) -> str:
    """Return the text of a kubeconfig with one context, which is also the current one."""
    context = context_name(cluster)
    where = {"server": server, "certificate-authority-data": base64.b64encode(ca).decode()}
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": context, "cluster": where}],
            "users": [{"name": user, "user": {"token": token}}],
            "contexts": [{"name": context, "context": {"cluster": context, "user": user, "namespace": "default"}}],
            "current-context": context,
        },
        sort_keys=False,
    )


def read(path: Path) -> Kubeconfig:
    """Read a kubeconfig that `text` made."""
    content = yaml_text.read(path.read_text())
    where = content["clusters"][0]["cluster"]
    ca = base64.b64decode(where["certificate-authority-data"]).decode()
    return Kubeconfig(where["server"], ca, content["users"][0]["user"]["token"])
