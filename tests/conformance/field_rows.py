"""Write `core/apis/operator_fields.txt`, the fields of custom resources at every level, from their real schemas.

    python -m tests.conformance.field_rows > core/apis/operator_fields.txt

A level is a type with the name of its place, e.g. `ClusterPolicy.spec.driver`. One with exactly the fields of a type of
Kubernetes is that type.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache

from core.apis import fields, kinds
from core.apis.kinds import Kind
from tests.conformance import definitions
from tests.conformance.definitions import OPEN, Schema

KINDS: tuple[Kind, ...] = (
    *(kinds.CLUSTER_POLICY, kinds.GPU_CLUSTER, kinds.NVIDIA_DRIVER, kinds.COMPUTE_DOMAIN),
    *(kinds.NIC_CLUSTER_POLICY, kinds.NIC_NODE_POLICY),
    *(kinds.MACVLAN_NETWORK, kinds.HOST_DEVICE_NETWORK),
    *(kinds.NODE_FEATURE_DISCOVERY_V1, kinds.NODE_NETWORK_CONFIGURATION_POLICY, kinds.SUBSCRIPTION),
    *(kinds.OPERATOR_GROUP, kinds.MACHINE_CONFIG_POOL, kinds.KUBELET_CONFIG, kinds.PROMETHEUS_RULE),
    *(kinds.CLUSTER_QUEUE, kinds.LOCAL_QUEUE, kinds.RESOURCE_FLAVOR, kinds.ROUTE),
)
_MARKS = {"string": "$", "integer": "#", "boolean": "?"}
_GENERAL = ("apiVersion$", "kind$", "metadata:ObjectMeta", "status")


def table() -> Iterator[str]:
    """Yield the lines of the file."""
    for kind in sorted(KINDS, key=lambda kind: kind.kind):
        schema = definitions.schema({"apiVersion": kind.api_version, "kind": kind.kind})
        names = {word.rstrip("$").partition(":")[0] for word in _GENERAL}
        properties = {name: below for name, below in schema["properties"].items() if name not in names}
        yield from _rows(kind.kind, properties, _GENERAL)


def _rows(name: str, properties: Schema, general: tuple[str, ...] = ()) -> Iterator[str]:
    words = [*general]
    below: list[str] = []
    for field, schema in properties.items():
        entries, many = schema, ""
        if schema.get("type") == "array":
            entries, many = schema.get("items", {}), "[]"
        place = f"{name}.{field}{many}"
        if same := _same().get(frozenset(entries.get("properties", ()))):
            words.append(f"{field}:{same}{many}")
        elif "properties" in entries and not entries.get(OPEN):
            words.append(f"{field}:{place}{many}")
            below += _rows(place, entries["properties"])
        else:
            words.append(f"{field}{_mark(entries)}{many}")
    yield " ".join((name, *sorted(words)))
    yield from below


@cache
def _same() -> dict[frozenset[str], str]:
    """Return types of Kubernetes by their fields, without those whose fields another one has."""
    plain = [type_ for type_ in fields.types().values() if not type_.of_operator and type_.fields.keys()]
    counts = Counter(frozenset(type_.fields) for type_ in plain)
    return {key: type_.name for type_ in plain if counts[key := frozenset(type_.fields)] == 1 < len(key)}


def _mark(schema: Schema) -> str:
    values = schema.get("additionalProperties")
    if isinstance(values, dict):
        return "${}" if values.get("type") == "string" else "{}"
    plain = "x-kubernetes-int-or-string" not in schema and "anyOf" not in schema and "oneOf" not in schema
    return _MARKS.get(schema.get("type", ""), "") if plain else ""


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in table())
