"""Objects as the API server decodes them, by the types of `core.apis.fields`: the known fields, and nothing else.

A field that its type does not have is dropped, of which the API server only warns. A null is a field that is absent, or
in a list an entry that is empty.
"""

from collections.abc import Mapping
from typing import Any

from core.apis.field_values import NARROW, QUANTITIES, QUANTITY
from core.apis.fields import Content, Field, Type
from policies.scc.reading import INT64, InvalidPod, Object, labels

_INT32 = range(-(2**31), 2**31)
_EMPTY: Mapping[Content, object] = {Content.TEXT: "", Content.NUMBER: 0, Content.FLAG: False}
"""What a null in a list stands for; of objects an empty one."""
_OBJECTS = frozenset({Content.OBJECT, Content.MAP, Content.TEXTS, Content.QUANTITIES})


def decoded(tree: Object, type_: Type, path: str) -> dict[str, Any]:
    """Return a copy of an object with the fields of its type alone; `path` is what their places begin with.

    Raises InvalidPod, with the place of it, for a value that its field cannot hold.
    """
    content: dict[str, Any] = {}
    fields = type_.fields
    for key, value in tree.items():
        field = fields.get(key)
        if field is None:
            if type_.open_:
                content[key] = value
        elif value is None:
            continue
        elif field.many:
            content[key] = _list(value, field, path + key)
        elif field.content is Content.TEXTS:
            content[key] = labels(tree, key, path)
        else:
            content[key] = _value(value, field, path + key)
            if (type_.name, key) in QUANTITIES:
                _check_quantity(value, path + key)
    return content


def _list(value: object, field: Field, path: str) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise InvalidPod(path, "a list", value)
    return [
        _EMPTY.get(field.content, {}) if entry is None else _value(entry, field, f"{path}[{index}]")
        for index, entry in enumerate(value)
    ]


def _value(value: object, field: Field, path: str) -> Any:
    content = field.content
    if content is Content.TEXT:
        if not isinstance(value, str):
            raise InvalidPod(path, "a string", value)
    elif content is Content.NUMBER:
        _check_number(value, path)
    elif content is Content.FLAG:
        if not isinstance(value, bool):
            raise InvalidPod(path, "a boolean", value)
    elif content in _OBJECTS:
        if not isinstance(value, Mapping):
            raise InvalidPod(path, "an object", value)
        if field.type is not None:
            return decoded(value, field.type, f"{path}.")
        if content is Content.QUANTITIES:
            for name, quantity in value.items():
                _check_quantity(quantity, f"{path}[{name}]")
        return dict(value)
    return value


def _check_number(value: object, path: str) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value not in INT64:
        raise InvalidPod(path, "an integer of 64 bits", value)
    if value not in _INT32 and path.rpartition(".")[2] in NARROW:
        raise InvalidPod(path, "an integer of 32 bits", value)


def _check_quantity(value: object, path: str) -> None:
    if isinstance(value, str):
        is_quantity = QUANTITY.fullmatch(value.strip()) is not None
    else:
        is_quantity = isinstance(value, int | float | None) and not isinstance(value, bool)
    if not is_quantity:
        raise InvalidPod(path, "a quantity", value)
