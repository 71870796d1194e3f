"""Objects of an API server in memory, with the methods of the actors' `Api` that small actors use."""

from copy import deepcopy
from typing import Any

from core.apis.kinds import Kind
from toolkit.simulator.actors.api import ApiError, Object

Name = tuple[str, str | None]


class StoredObjects:
    """One server for every identity: each write raises the object's resource version."""

    def __init__(self, *objects: tuple[Kind, Object]) -> None:
        self.of_kind: dict[str, dict[Name, Object]] = {}
        self._written = 0
        for kind, obj in objects:
            self.create(kind, obj)

    def find(self, kind: Kind, name: str, namespace: str | None = None) -> Object | None:
        """Return a copy of an object, None where there is none."""
        return deepcopy(self.of_kind.get(kind.plural, {}).get((name, namespace)))

    def get(self, kind: Kind, name: str, namespace: str | None = None) -> Object:
        """Return a copy of an object."""
        obj = self.find(kind, name, namespace)
        if obj is None:
            raise _refusal("get", kind, 404, "NotFound")
        return obj

    def list(self, kind: Kind, namespace: str | None = None, selector: str = "", fields: str = "") -> Object:
        """Return the objects of a kind; `fields` are paths of their spec, with equals signs."""
        assert not selector
        wanted = dict(field.split("=") for field in fields.split(",") if field)
        items = [
            deepcopy(obj)
            for (_, where), obj in self.of_kind.get(kind.plural, {}).items()
            if namespace in (None, where)
            and all(obj["spec"].get(path.removeprefix("spec.")) == value for path, value in wanted.items())
        ]
        return {"items": items}

    def create(self, kind: Kind, body: Object, namespace: str | None = None) -> Object:
        """Store an object, with a name of its own where it has only the beginning of one."""
        meta = body["metadata"]
        name = meta.get("name") or f"{meta['generateName']}{self._written:05}"
        where = namespace or meta.get("namespace")
        if self.find(kind, name, where):
            raise _refusal("create", kind, 409, "AlreadyExists")
        return self._store(kind, {**body, "metadata": {"uid": f"uid-of-{name}", **meta, "name": name}}, where)

    def replace(self, kind: Kind, body: Object) -> Object:
        """Store an object that has not been written since it was read."""
        meta = body["metadata"]
        current = self.get(kind, meta["name"], meta.get("namespace"))
        if current["metadata"]["resourceVersion"] != meta["resourceVersion"]:
            raise _refusal("update", kind, 409, "Conflict")
        return self._store(kind, body, meta.get("namespace"))

    def patch(self, kind: Kind, name: str, body: Object, namespace: str | None = None) -> Object:
        """Merge into an object; None removes."""
        return self._store(kind, _merged(self.get(kind, name, namespace), body), namespace)

    def delete(self, kind: Kind, name: str, namespace: str | None = None) -> None:
        """Remove an object; it may be missing."""
        self.of_kind.get(kind.plural, {}).pop((name, namespace), None)

    def _store(self, kind: Kind, obj: Object, namespace: str | None) -> Object:
        self._written += 1
        stored = deepcopy(obj)
        stored["metadata"]["resourceVersion"] = str(self._written)
        self.of_kind.setdefault(kind.plural, {})[stored["metadata"]["name"], namespace] = stored
        return deepcopy(stored)


def _merged(old: Any, new: Any) -> Any:
    if not isinstance(old, dict) or not isinstance(new, dict):
        return new
    merged = {**old}
    for key, value in new.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = _merged(merged.get(key, {}), value)
    return merged


def _refusal(verb: str, kind: Kind, code: int, reason: str) -> ApiError:
    return ApiError("tests", verb, kind.plural, {"code": code, "reason": reason, "message": reason})
