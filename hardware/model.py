"""The base of all records, settings and arguments of the project."""

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """A frozen record that refuses unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")
