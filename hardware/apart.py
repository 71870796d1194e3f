"""Fields that are checked apart: their validator is built when one is first given, not with the model around them."""

from functools import cache
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, TypeAdapter, ValidationInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema


class Apart:
    """Marks a field, as `Annotated[Site | None, Apart()]`: for large settings that few stacks have.

    Values, errors and their places are those of an ordinary field; only the default is not checked, as everywhere.
    """

    def __init__(self) -> None:
        """Mark one field: the mark remembers its type."""
        self._source: Any = None

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return a check that calls the validator of the type."""
        self._source = source
        adapter = cache(lambda: TypeAdapter(source))

        def check(value: Any, info: ValidationInfo) -> Any:
            return adapter().validate_python(value, context=info.context)

        return core_schema.with_info_plain_validator_function(check)

    def __get_pydantic_json_schema__(self, _: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Return the JSON schema of the type."""
        return handler(TypeAdapter(self._source).core_schema)
