"""The table of custom resources' fields."""

import pytest

from core.apis import fields
from tests.conformance import field_rows
from tests.conformance.definitions import NoSchemaError


def test_the_table_is_of_the_real_schemas() -> None:
    """Every level of these kinds has the fields of its schema, so that a field that exists is never refused."""
    path = fields.OF_OPERATORS
    try:
        rows = list(field_rows.table())
    except NoSchemaError as error:
        pytest.skip(str(error))
    assert path.read_text(encoding="ascii").splitlines() == rows, (
        f"run `python -m tests.conformance.field_rows > core/apis/{path.name}`"
    )
