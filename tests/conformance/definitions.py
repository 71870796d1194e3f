"""Where the real schemas of kinds are: definitions and OpenAPI in published Go modules, and the tables of fields."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from core.apis import kinds
from core.apis.kinds import Kind
from tests.conformance import tables
from toolkit.engine import tools
from toolkit.engine.tools.table import DATA_OF
from toolkit.simulator.actors.packages import packages

Manifest = Mapping[str, Any]
Schema = dict[str, Any]

AGGREGATED = {
    kinds.BUILD_CONFIG: "com.github.openshift.api.build.v1.BuildConfig",
    kinds.IMAGE_STREAM: "com.github.openshift.api.image.v1.ImageStream",
    kinds.ROUTE: "com.github.openshift.api.route.v1.Route",
}
"""Kinds of OpenShift's second API server -> their names in its OpenAPI; there are no definitions of them."""
OPEN = "x-kubernetes-preserve-unknown-fields"
_OLDER = ("gpu-operator-files",)
"""Data whose definitions are of an older release than those of the tables, which stacks declare."""
_REFERENCE = "#/definitions/"
_NOTHING: tuple[Any, ...] = ("", 0, False, {}, None)
"""Defaults in OpenAPI that say no more than that Go has no absent values; none of them stands for what is required."""


class TextLoader(yaml.CSafeLoader):
    """Reads a bare `=` as the text that it is; YAML 1.1 has a meaning for it that PyYAML knows and cannot build."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - PyYAML's own attribute
        first: found for first, found in yaml.CSafeLoader.yaml_implicit_resolvers.items() if first != "="
    }


class NoSchemaError(Exception):
    """No schema of the manifest's kind and version is at hand; the message says where one was looked for."""


def schema(manifest: Manifest, given: Iterable[Manifest] = ()) -> Schema:
    """Return the schema of a manifest's kind and version; `given` definitions go before the real ones.

    Raises NoSchemaError.
    """
    api_version, name = str(manifest["apiVersion"]), str(manifest["kind"])
    group, _, version = api_version.rpartition("/")
    aggregated = next((kind for kind in AGGREGATED if (kind.api_version, kind.kind) == (api_version, name)), None)
    kind = aggregated or kinds.find(api_version, name)
    for definition in (*given, *(real(kind) if kind else ())):
        spec = definition["spec"]
        if (spec["group"], spec["names"]["kind"]) == (group, name):
            for served in spec["versions"]:
                if served["name"] == version and served["served"]:
                    found: Schema = served["schema"]["openAPIV3Schema"]
                    return found
    looked = "core/apis/kinds.py does not know the kind"
    if kind is not None:
        if kind in AGGREGATED and (found := _openapi().get(AGGREGATED[kind], {})):
            return _resolved(found)
        looked = f"looked for the definition of {kind.plural} in {tables.FOLDER}, {', '.join(map(str, _folders()))}"
    raise NoSchemaError(f"no schema of {api_version} {name} at hand: {looked}")


@cache
def real(kind: Kind) -> tuple[Manifest, ...]:
    """Return the definitions of a kind that are not ours; without the tool data there may be none.

    Documents that do not name it are not parsed, for some are very long.
    """
    name = f"\n    plural: {kind.plural}\n"
    found = [document for text in _texts() if name in text for document in text.split("\n---\n") if name in document]
    parsed = [yaml.load(document, Loader=TextLoader) for document in found]  # noqa: S506 - a safe loader
    read = [each for each in (*tables.definitions(), *_simulated()) if each["spec"]["names"]["plural"] == kind.plural]
    return tuple(each for each in (*parsed, *read) if each["spec"]["group"] == kind.group)


@cache
def _simulated() -> tuple[Manifest, ...]:
    """Return the definitions of the simulated catalogue that have all fields, with those of every object."""
    bundles = [bundle for package in packages().values() for bundle in package.channels.values()]
    found = [each.manifest() for bundle in bundles for each in bundle.definitions if OPEN not in each.spec]
    return tuple({each["metadata"]["name"]: each for each in found}.values())


@cache
def _texts() -> tuple[str, ...]:
    return tuple(path.read_text() for folder in _folders() for path in sorted(folder.glob("*.yaml")))


@cache
def _folders() -> tuple[Path, ...]:
    names = [name for name in DATA_OF if name not in _OLDER]
    if os.environ.get("CI") == "true":
        # CI comes to the unit tests before any layer has fetched a tool, and does not allow a skip.
        return tuple(tools.ensure(names).values())
    return tuple(tools.cache_folder() / DATA_OF[name].cache_name() for name in names)


@cache
def _openapi() -> Mapping[str, Schema]:
    files = [path for folder in _folders() for path in folder.glob("openapi.json")]
    found: Mapping[str, Schema] = json.loads(files[0].read_text())["definitions"] if files else {}
    return found


def _resolved(schema: Schema) -> Schema:
    """Return a schema of OpenAPI with what it refers to in its place."""
    if "$ref" in schema:
        target = schema["$ref"].removeprefix(_REFERENCE)
        return _resolved(_openapi()[target])
    return dict(_parts(schema))


def _parts(schema: Schema) -> Iterator[tuple[str, Any]]:
    if schema.get("format") == "int-or-string":
        yield "x-kubernetes-int-or-string", True
        return
    for key, value in schema.items():
        if key == "properties":
            # What only a server fills in refers to itself in places.
            yield key, {name: _resolved(each) for name, each in value.items() if name not in ("metadata", "status")}
        elif key in ("items", "additionalProperties") and isinstance(value, dict):
            yield key, _resolved(value)
        elif key != "default" or value not in _NOTHING:
            yield key, value
