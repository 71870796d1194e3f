"""Versions outside a vendor's table that a stack has nevertheless."""

from pydantic import Field

from components.base.model import Model


class AllowedVersion(Model):
    """One version, and why the stack has it."""

    what: str = Field(min_length=1, description="path of the setting, as the message that refuses it has it")
    value: str = Field(min_length=1, description="its value, in quotes; another one is refused as before")
    reason: str = Field(min_length=8, description="why it is used nevertheless; every review shows it")
