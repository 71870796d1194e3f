"""What others than the provider do on the API server in a case, and what they see there."""

import time
from collections.abc import Mapping
from typing import Any

from tests.contract.provider.api_server import ApiServer, wait_until
from tests.contract.provider.operations import Resource

_MERGE, _APPLY = "application/merge-patch+json", "application/apply-patch+yaml"
Manifest = dict[str, Any]


class ApiChanges:
    """Each method is a step: it gets the manifest of the step, which is about the case's own object by default."""

    def __init__(self, api: ApiServer) -> None:
        self._api = api

    def take(self, name: str, argument: Any, resource: Resource) -> Any:
        """Take the step of that name; return its result."""
        given: Manifest = dict(argument or {})
        if name == "owned":
            return self._owned(given, resource)
        manifest = given if "kind" in given else about(resource, given)
        return getattr(self, f"_{name}")(manifest)

    def knows(self, name: str) -> bool:
        """Whether a step is one of these."""
        return hasattr(self, f"_{name}")

    def live(self, resource: Resource) -> Any:
        """Return the case's own object as it is now, None where there is none."""
        manifest = about(resource, {})
        return self._api.get(manifest) if manifest["metadata"].get("name") else None

    def _post(self, manifest: Manifest) -> Any:
        query = {"fieldManager": manifest.pop("manager", "somebody")}
        return self._sent("POST", self._api.path(manifest, ""), manifest, query=query)

    def _merge(self, manifest: Manifest) -> Any:
        query = {"fieldManager": manifest.pop("manager", "kubectl-edit")}
        return self._sent("PATCH", self._api.path(manifest), manifest, kind=_MERGE, query=query)

    def _apply(self, manifest: Manifest) -> Any:
        query = {"fieldManager": manifest.pop("manager", "somebody"), "force": "true"}
        return self._sent("PATCH", self._api.path(manifest), manifest, kind=_APPLY, query=query)

    def _status(self, manifest: Manifest) -> Any:
        live = self._api.get(manifest) or {}
        body = {"status": _generation(manifest["status"], live.get("metadata", {}).get("generation", 1))}
        path = f"{self._api.path(manifest)}/status"
        return self._sent("PATCH", path, body, kind=_MERGE, query={"fieldManager": "controller"})

    def _expire(self, manifest: Manifest) -> Any:
        """Delete without waiting."""
        return self._sent("DELETE", self._api.path(manifest), {"propagationPolicy": "Background"})

    def _remove(self, manifest: Manifest) -> Any:
        answer = self._expire(manifest)
        wait_until(lambda: self._api.get(manifest) is None, f"the end of {manifest['metadata']['name']}", 20)
        return answer

    def _owned(self, manifest: Manifest, resource: Resource) -> Any:
        """Post an object that the case's own object owns."""
        live = self._api.get(about(resource, {}))
        owner = {key: live[key] for key in ("apiVersion", "kind")}
        owner |= {"name": live["metadata"]["name"], "uid": live["metadata"]["uid"], "controller": True}
        manifest["metadata"] = {**manifest["metadata"], "ownerReferences": [owner]}
        status = manifest.pop("status", None)
        answer = self._post(manifest)
        if status:
            self._status({**manifest, "status": status})
        return answer

    def _live(self, manifest: Manifest) -> Any:
        return self._api.get(manifest)

    def _exists(self, manifest: Manifest) -> Any:
        return self._api.get(manifest) is not None

    def _serve(self, manifest: Manifest) -> Any:
        """Post a definition and wait until its kind is served."""
        answer = self._post(manifest)
        spec = manifest["spec"]
        for version in spec["versions"]:
            path = f"/apis/{spec['group']}/{version['name']}/{spec['names']['plural']}"
            wait_until(lambda path=path: self._api.request("GET", path).status == 200, path)  # type: ignore[misc]
        return answer

    def _sleep(self, manifest: Manifest) -> Any:
        time.sleep(manifest["seconds"])

    def _sent(self, method: str, path: str, body: Any, **options: Any) -> str:
        answer = self._api.request(method, path, body, **options)
        assert answer.status < 300, f"{method} {path}: {answer.body}"
        return f"{answer.status}"


def about(resource: Resource, given: Manifest) -> Manifest:
    """Return a manifest of the case's own object with what is given; nulls stay, a merge patch removes by them."""
    known = resource.state.outputs if resource.state else resource.checked or resource.news
    metadata = {key: known["metadata"][key] for key in ("name", "namespace") if key in known.get("metadata", {})}
    identity = {"apiVersion": known["apiVersion"], "kind": known["kind"]}
    return {**identity, **given, "metadata": {**metadata, **given.get("metadata", {})}}


def _generation(value: Any, generation: int) -> Any:
    """Return a status with the object's generation where `<generation>` stands."""
    match value:
        case "<generation>":
            return generation
        case Mapping():
            return {key: _generation(item, generation) for key, item in value.items()}
        case list():
            return [_generation(item, generation) for item in value]
        case _:
            return value
