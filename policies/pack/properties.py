"""Plain trees out of what the engine sends."""

from typing import Any

from google.protobuf import json_format, struct_pb2
from pulumi_policy import deserialize, proxy

from policies.redaction import texts
from policies.values import Path, Tree, Unknown

_SENTINELS = frozenset(
    {
        proxy.UNKNOWN_BOOLEAN_VALUE,
        proxy.UNKNOWN_NUMBER_VALUE,
        proxy.UNKNOWN_STRING_VALUE,
        proxy.UNKNOWN_ARRAY_VALUE,
        proxy.UNKNOWN_ASSET_VALUE,
        proxy.UNKNOWN_ARCHIVE_VALUE,
        proxy.UNKNOWN_OBJECT_VALUE,
    }
)


class Properties:
    """The properties of one resource: `tree` has dicts, lists and scalars, with integers for whole floats.

    What is not known is an `Unknown` in its place, and in `unknown`. What is secret is in its place as plain text, and
    its texts are in `secrets`.
    """

    def __init__(self, properties: struct_pb2.Struct | Tree) -> None:
        content = json_format.MessageToDict(properties) if isinstance(properties, struct_pb2.Struct) else properties
        self.unknown: list[Unknown] = []
        self.secrets: set[str] = set()
        self.tree: Any = self._plain(content, ())

    def _plain(self, value: Tree, path: Path) -> Tree:
        if isinstance(value, str):
            return self._hidden(path) if value in _SENTINELS else value
        if isinstance(value, dict):
            if value.get(deserialize.SPECIAL_SIG_KEY) == deserialize.SPECIAL_SECRET_SIG:
                content = self._plain(value.get("value"), path)
                self.secrets.update(texts(content))
                return content
            return {key: self._plain(entry, (*path, key)) for key, entry in value.items()}
        if isinstance(value, list):
            return [self._plain(entry, (*path, index)) for index, entry in enumerate(value)]
        if isinstance(value, float) and value.is_integer():
            return int(value)  # the engine's wire format has floats only
        return self._hidden(path) if isinstance(value, Unknown) else value

    def _hidden(self, path: Path) -> Unknown:
        value = Unknown(path)
        self.unknown.append(value)
        return value
