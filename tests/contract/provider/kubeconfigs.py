"""The kubeconfigs that cases speak of: `<file:NAME>` is a path, `<text:NAME>` the content."""

import copy
import json
import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from tests.contract.provider.api_server import ApiServer

_PLACEHOLDER = re.compile(r"<(file|text|json):([a-z-]+)>")
CLOSED = "https://127.0.0.1:1"
"""Nobody listens here."""


class Kubeconfigs:
    """Kubeconfigs of one API server, below its home."""

    def __init__(self, api: ApiServer, home: Path) -> None:
        self._api, self._folder = api, home / "kubeconfigs"
        self._folder.mkdir(parents=True, exist_ok=True)
        for name, content in self._contents.items():
            (self._folder / name).write_text(yaml.safe_dump(content))

    def filled(self, value: Any) -> Any:
        """Return the value with kubeconfigs where their placeholders stand."""
        match value:
            case str():
                text = _PLACEHOLDER.sub(lambda match: self._named(match[1], match[2]), value)
                return text.replace("<context>", self._api.context)
            case Mapping():
                return {key: self.filled(item) for key, item in value.items()}
            case list():
                return [self.filled(item) for item in value]
            case _:
                return value

    def _named(self, form: str, name: str) -> str:
        if form == "file":
            return str(self._folder / name)
        return json.dumps(self._contents[name]) if form == "json" else yaml.safe_dump(self._contents[name])

    @cached_property
    def _contents(self) -> dict[str, dict[str, Any]]:
        good: dict[str, Any] = yaml.safe_load(self._api.kubeconfig.read_text())
        return {
            "good": good,
            "closed": _changed(good, cluster={"server": CLOSED}),
            "refused": _changed(good, user={"token": "unknown-to-the-server"}),
            "limited": _changed(good, user={"token": self._limited()}),
            "in-namespace": _changed(good, context={"namespace": "kube-public"}),
            "renamed": _renamed(good),
            "two": _two(good),
        }

    def _limited(self) -> str:
        """Return the token of an account that may read ConfigMaps only."""
        name = "limited"
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}}
        rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch"]}]
        api = "rbac.authorization.k8s.io"
        role = {"apiVersion": f"{api}/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": rules}
        binding = {
            "apiVersion": f"{api}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": name},
            "roleRef": {"apiGroup": api, "kind": "ClusterRole", "name": name},
            "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": "default"}],
        }
        for manifest in (account, role, binding):
            made = self._api.request("POST", self._api.path(manifest, ""), manifest)
            assert made.status == 201, made.body
        path = f"/api/v1/namespaces/default/serviceaccounts/{name}/token"
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        answer = self._api.request("POST", path, body)
        assert answer.status == 201, answer.body
        return str(answer.body["status"]["token"])


def _changed(good: dict[str, Any], **parts: dict[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = copy.deepcopy(good)
    for key, change in parts.items():
        content[f"{key}s"][0][key].update(change)
    return content


def _renamed(good: dict[str, Any]) -> dict[str, Any]:
    """Return the same cluster under other names."""
    content: dict[str, Any] = copy.deepcopy(good)
    content["clusters"][0]["name"] = content["contexts"][0]["context"]["cluster"] = "another-name"
    content["contexts"][0]["name"] = content["current-context"] = "another-context"
    return content


def _two(good: dict[str, Any]) -> dict[str, Any]:
    """Return two clusters and contexts, of which the current one leads nowhere."""
    content: dict[str, Any] = copy.deepcopy(good)
    content["clusters"].append({"name": "nowhere", "cluster": {"server": CLOSED}})
    user = content["users"][0]["name"]
    content["contexts"].append({"name": "nowhere", "context": {"cluster": "nowhere", "user": user}})
    content["current-context"] = "nowhere"
    return content
