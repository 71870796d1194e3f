"""What the engine stores of an object: the live object, with the inputs beside it (the official provider's form)."""

from dataclasses import dataclass
from typing import Any

from toolkit.engine.prediction.inputs import FIELD_MANAGER, INITIAL_API_VERSION, INPUTS, field_manager
from toolkit.engine.prediction.typed_form import known_fields, normalized
from toolkit.engine.prediction.values import (
    MISSING,
    Path,
    Properties,
    Secret,
    any_value,
    plain,
    prune,
    with_dashes,
    with_underscores,
)
from toolkit.simulator.provider.checks import manifest

_MADE_BY_SERVER = ("creationTimestamp", "generation", "managedFields", "resourceVersion", "uid")


_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


_NOTED_BY_OTHERS = (_LAST_APPLIED, "deployment.kubernetes.io/revision")


@dataclass(frozen=True)
class Marks:
    """What is recorded of an object besides its fields: who owns ours, and in which version it was first made."""

    manager: str
    initial_api_version: str


def marks(urn: str, inputs: Properties, outputs: Properties) -> Marks:
    """Return the marks for a resource with these inputs and recorded outputs (none yet: empty)."""
    version = str(outputs.get(INITIAL_API_VERSION) or inputs.get("apiVersion", ""))
    return Marks(field_manager(urn, inputs, outputs), version)


def recorded(inputs: Properties, live: Properties, sources: Properties, noted: Marks) -> Properties:
    """Return the outputs of a resource: the live object, with the inputs beside it, as secret as the `sources`."""
    outputs = _with_applied_secret(mark_secrets(with_underscores(live), sources), sources)
    texts = sources.get("stringData")
    if live.get("kind") == "Secret" and texts is not None and "data" in outputs:
        outputs["data"] = outputs["data"] if isinstance(outputs["data"], Secret) else Secret(outputs["data"])
    return {
        **outputs,
        INPUTS: mark_secrets(with_underscores(inputs), sources),
        INITIAL_API_VERSION: noted.initial_api_version,
        FIELD_MANAGER: noted.manager,
    }


def _with_applied_secret(outputs: Properties, sources: Properties) -> Properties:
    """Return outputs in which what `kubectl apply` has noted is secret: it repeats all of the object as one text."""
    metadata = outputs.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    if not (outputs.get("kind") == "Secret" or has_secret(sources)) or not isinstance(annotations, dict):
        return outputs
    noted = annotations.get(_LAST_APPLIED)
    if noted is None or isinstance(noted, Secret):
        return outputs
    hidden = {**annotations, _LAST_APPLIED: Secret(noted)}
    return {**outputs, "metadata": {**outputs["metadata"], "annotations": hidden}}


def in_preview(live: Properties) -> Properties:
    """Return a dry run's object without its status, which no controller has set."""
    return {key: value for key, value in live.items() if key != "status"}


def split(outputs: Properties) -> tuple[Properties, Properties]:
    """Return the inputs and the live object in recorded outputs, both plain."""
    values = with_dashes(plain(outputs))
    live = {key: value for key, value in values.items() if not key.startswith("__")}
    return values.get(INPUTS, {}), live


def identity(live: Properties) -> Properties:
    """Return inputs that say no more than which object it is."""
    metadata = {key: live["metadata"][key] for key in ("name", "namespace") if key in live["metadata"]}
    return {"apiVersion": live["apiVersion"], "kind": live["kind"], "metadata": metadata}


def inputs_from_cluster(live: Properties) -> Properties:
    """Return inputs for an object that no program has described.

    Those of a builtin kind are all that a program could give, but for what only the server sets; those of another kind
    say no more than which object it is, because its fields are not known.
    """
    fields = known_fields(str(live.get("apiVersion")), str(live.get("kind")))
    if fields is None:
        return identity(live)
    metadata = {key: value for key, value in live["metadata"].items() if key not in _MADE_BY_SERVER}
    if "annotations" in metadata:
        metadata["annotations"] = {k: v for k, v in metadata["annotations"].items() if k not in _NOTED_BY_OTHERS}
    return {**{key: value for key, value in live.items() if key in fields}, "metadata": metadata}


def refreshed_inputs(inputs: Properties, live: Properties) -> Properties:
    """Return the inputs as the cluster has them now."""
    pruned: Properties = prune(live, normalized(manifest(inputs)))
    return pruned


def with_ignored(body: Properties, live: Properties, paths: tuple[Path, ...], manager: str) -> Properties:
    """Return what to apply where the fields at `paths` are ignored.

    Fields of others alone are left to them; others have their live value. Names only: elements of lists are not
    looked into.
    """
    of_manager, of_others = _owned_paths(live, manager)
    for path in paths:
        steps = tuple(str(step) for step in path)
        if steps in of_others and steps not in of_manager:
            body = _without(body, steps)
        else:
            value = _at(live, steps)
            body = body if value is MISSING else _with(body, steps, value)
    return body


def _owned_paths(live: Properties, manager: str) -> tuple[set[tuple[str, ...]], set[tuple[str, ...]]]:
    """Return the paths of fields that the manager has, and those that others have."""
    of_manager: set[tuple[str, ...]] = set()
    of_others: set[tuple[str, ...]] = set()

    def collect(fields: Properties, path: tuple[str, ...], paths: set[tuple[str, ...]]) -> None:
        for key, inner in fields.items():
            if key.startswith("f:"):
                paths.add((*path, key[2:]))
                collect(inner, (*path, key[2:]), paths)

    for entry in live.get("metadata", {}).get("managedFields", []):
        collect(entry.get("fieldsV1", {}), (), of_manager if entry.get("manager") == manager else of_others)
    return of_manager, of_others


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        if not isinstance(value, dict) or step not in value:
            return MISSING
        value = value[step]
    return value


def _with(value: Any, path: tuple[str, ...], new: Any) -> Any:
    if not path:
        return new
    inner = value.get(path[0], {}) if isinstance(value, dict) else {}
    return {**(value if isinstance(value, dict) else {}), path[0]: _with(inner, path[1:], new)}


def _without(value: Any, path: tuple[str, ...]) -> Any:
    if not isinstance(value, dict) or path[0] not in value:
        return value
    if len(path) == 1:
        return {key: item for key, item in value.items() if key != path[0]}
    return {**value, path[0]: _without(value[path[0]], path[1:])}


def has_secret(value: Any) -> bool:
    """Whether something in the value is secret."""
    return any_value(value, lambda item: isinstance(item, Secret))


def mark_secrets(outputs: Any, inputs: Any) -> Any:
    """Return the outputs with everything secret whose input was: objects field by field, a list as a whole.

    The `data` and `stringData` of a Secret, also of an embedded one where there are inputs, are secret in any case.
    """
    if not isinstance(outputs, dict):
        return outputs
    if outputs.get("kind") == "Secret":
        return {key: _secret(value) if key in ("data", "stringData") else value for key, value in outputs.items()}
    if not isinstance(inputs, dict):
        return outputs
    return {key: _marked(value, inputs[key]) if key in inputs else value for key, value in outputs.items()}


def _secret(value: Any) -> Secret:
    return value if isinstance(value, Secret) else Secret(value)


def _marked(output: Any, source: Any) -> Any:
    if isinstance(output, dict) and isinstance(source, dict):
        return mark_secrets(output, source)
    return _secret(output) if has_secret(source) else output
