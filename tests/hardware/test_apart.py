"""A field that is checked apart behaves as an ordinary one."""

from typing import Annotated, Any

import pytest
from pydantic import Field, ValidationError, ValidationInfo, field_validator

from hardware.apart import Apart
from hardware.model import Model


class Inner(Model):
    """What few have."""

    count: int = Field(default=1, gt=0, description="how many")

    @field_validator("count")
    @classmethod
    def _as_in_context(cls, value: int, info: ValidationInfo) -> int:
        more: int = (info.context or {}).get("more", 0)
        return value + more


class Ordinary(Model):
    """A model whose field is checked with it."""

    inner: tuple[Inner, ...] | None = Field(default=None, description="of few")


class Separate(Model):
    """The same, checked apart."""

    inner: Annotated[tuple[Inner, ...] | None, Apart()] = Field(default=None, description="of few")


@pytest.mark.parametrize("given", [{}, {"inner": None}, {"inner": [{"count": 2}, {}]}])
def test_values_are_the_same(given: dict[str, Any]) -> None:
    """Values and what is dumped of them are those of an ordinary field, and the context is passed on."""
    one, other = (model.model_validate(given, context={"more": 3}) for model in (Ordinary, Separate))
    assert one.model_dump() == other.model_dump()
    assert one.model_dump(mode="json", exclude_defaults=True) == other.model_dump(mode="json", exclude_defaults=True)


def test_errors_are_the_same() -> None:
    """An error has its place in the whole, its type and its input."""
    found = []
    for model in (Ordinary, Separate):
        with pytest.raises(ValidationError) as caught:
            model.model_validate({"inner": [{"count": 1}, {"count": 0, "other": 1}], "further": 1})
        found.append(caught.value.errors())
    assert found[0] == found[1]
    assert {error["loc"] for error in found[1]} == {("inner", 1, "count"), ("inner", 1, "other"), ("further",)}


def test_the_json_schema_is_the_same() -> None:
    """A JSON schema describes the field as an ordinary one."""
    one, other = (model.model_json_schema() for model in (Ordinary, Separate))
    assert {**one, "title": "", "description": ""} == {**other, "title": "", "description": ""}


def test_the_validator_is_built_on_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model whose field is not given does not build the validator of the field."""
    built: list[Any] = []
    monkeypatch.setattr("hardware.apart.TypeAdapter", built.append)

    class Made(Model):
        inner: Annotated[Inner | None, Apart()] = None

    Made.model_validate({})
    assert built == []
    with pytest.raises(AttributeError):
        Made.model_validate({"inner": {}})
    assert built == [Inner | None]
