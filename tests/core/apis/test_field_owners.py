"""What of an object goes with an update that does not declare it."""

from collections.abc import Mapping
from typing import Any

from core.apis import field_owners

PROVIDER = "pulumi-kubernetes-4f58107c"


def entry(manager: str, fields: dict[str, Any], operation: str = "Update") -> dict[str, Any]:
    """Return an entry of managedFields."""
    return {"manager": manager, "operation": operation, "fieldsV1": fields}


def after(owners: list[dict[str, Any]], **fields: Any) -> Mapping[str, Any]:
    """Return the fields of an object after an update."""
    left = field_owners.after_update({"metadata": {"name": "x", "managedFields": owners}, **fields})
    return {key: value for key, value in left.items() if key != "metadata"}


def test_a_users_field_goes_unless_the_program_or_another_has_it() -> None:
    """With an update the fields go that kubectl alone owns; before one, all stay."""
    users = entry("kubectl-create", {"f:spec": {".": {}, "f:declared": {}, "f:gone": {}, "f:shared": {}}, "f:all": {}})
    controller = entry("a-controller", {"f:spec": {"f:shared": {}, "f:theirs": {}}})
    update = entry(PROVIDER, {"f:spec": {"f:declared": {}}}, "Apply")
    content: dict[str, Any] = {"spec": {"declared": 1, "gone": 2, "shared": 3, "theirs": 4}, "all": [1]}
    assert after([users, controller, update], **content) == {"spec": {"declared": 1, "shared": 3, "theirs": 4}}
    assert after([users, controller], **content) == after([controller, update], **content) == content


def test_an_item_goes_with_the_fields_that_are_owned_in_it() -> None:
    """Of a list with keys kubectl's items go that no one declares; a declared one loses kubectl's other fields."""
    mine: dict[str, Any] = {
        'k:{"name":"a"}': {".": {}, "f:name": {}, "f:gone": {}},
        'k:{"name":"b"}': {".": {}, "f:name": {}},
    }
    users = entry("kubectl-edit", {"f:items": mine, "f:names": {'v:"x"': {}, 'v:"y"': {}}})
    declared = {"f:items": {'k:{"name":"a"}': {".": {}, "f:name": {}}}, "f:names": {'v:"y"': {}}}
    items = [{"name": "a", "gone": 1}, {"name": "b"}, {"name": "injected"}]
    left = after([users, entry(PROVIDER, declared, "Apply")], items=items, names=["x", "y", "z"])
    assert left == {"items": [{"name": "a"}, {"name": "injected"}], "names": ["y", "z"]}
