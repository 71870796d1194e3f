"""Settings of a stack itself: its base, its state, what it sets for policies, and versions that it accepts."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, field_validator, model_validator

from components.base.model import Model

_URL = re.compile(r"^(s3|gs|azblob|file|https)://\S+$")
_PROVIDER = re.compile(r"^(passphrase|default|(awskms|gcpkms|azurekeyvault|hashivault)://\S+)$")
_LOGIN = re.compile(r"^\w+://[^/?]*@")


class StateSettings(Model):
    """Where the Pulumi state of the stack is stored. A simulated cluster has its own, whatever these settings are."""

    backend: str | None = Field(
        default=None,
        description="URL as `pulumi login` takes it, e.g. s3://BUCKET?endpoint=https://HOST&s3ForcePathStyle=true. "
        "None: PULUMI_BACKEND_URL, else where the user is logged in",
    )
    secrets_provider: str = Field(
        default="passphrase",
        description="what encrypts the secrets of a new stack: passphrase, or the URL of a key",
    )

    @model_validator(mode="before")
    @classmethod
    def _has_no_login(cls, data: Any) -> Any:
        """Refuse a password in the URL, here, where the message does not repeat the URL."""
        if isinstance(data, Mapping) and _LOGIN.match(str(data.get("backend"))):
            raise ValueError("the URL of `backend` contains a login, and everyone can read this file; remove it")
        return data

    @field_validator("backend")
    @classmethod
    def _is_a_url(cls, url: str | None) -> str | None:
        if url is not None and not _URL.match(url):
            raise ValueError("not a URL of a backend; write s3://BUCKET, file:///FOLDER or https://SERVICE")
        return url

    @field_validator("secrets_provider")
    @classmethod
    def _is_known(cls, provider: str) -> str:
        if not _PROVIDER.match(provider):
            raise ValueError("no secrets provider; write passphrase, or awskms://KEY, gcpkms://KEY, hashivault://KEY")
        return provider


RULES = "rules"
"""Where the folders of a stack's own rules are, among what is set by rule."""
_LEVEL = "enforcementLevel"
_Policy: TypeAlias = dict[str, Any] | tuple[str, ...]


def _policy(value: Any) -> Any:
    """Return parameters or folders; a text is the level alone."""
    if isinstance(value, str):
        return {_LEVEL: value}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return value
    if isinstance(value, list | tuple) and all(isinstance(folder, str) for folder in value):
        return tuple(value)
    raise ValueError("is neither parameters nor a level; write e.g. {enforcementLevel: advisory}, or disabled")


def _policies(policies: dict[str, _Policy]) -> dict[str, _Policy]:
    for name, value in policies.items():
        if name == RULES and not isinstance(value, tuple):
            raise ValueError(f"{RULES}: is no list of folders; write e.g. [rules]")
        if name != RULES and isinstance(value, tuple):
            raise ValueError(f"{name}: is a list; write the rule's parameters, e.g. {{enforcementLevel: advisory}}")
    return policies


Policies = Annotated[
    dict[str, Annotated[_Policy, BeforeValidator(_policy, json_schema_input_type=_Policy | str)]],
    AfterValidator(_policies),
]
"""Parameters by rule, or its level alone, and under `rules` the folders of the stack's own."""


def rule_folders(policies: Policies) -> tuple[str, ...]:
    """Return the folders of the stack's own rules."""
    value = policies.get(RULES, ())
    return value if isinstance(value, tuple) else ()


def rule_parameters(policies: Policies) -> dict[str, dict[str, Any]]:
    """Return what is set by rule."""
    return {name: value for name, value in policies.items() if isinstance(value, dict)}


class AllowedVersion(Model):
    """One version, and why the stack has it."""

    what: str = Field(min_length=1, description="path of the setting, as the message that refuses it has it")
    value: str = Field(min_length=1, description="its value, in quotes; another one is refused as before")
    reason: str = Field(min_length=8, description="why it is used nevertheless; every review shows it")


class Based(Model):
    """What a file is merged over; nothing of it is left in the settings that the program gets."""

    base: str | None = Field(
        default=None,
        min_length=1,
        description="settings file that this one is merged over, relative to the project's folder, e.g. "
        "bases/site.yaml ([bases](../guide/several-stacks.md#settings-that-stacks-share)); it must not contain secrets",
    )
    without: tuple[str, ...] = Field(
        default=(),
        description="paths to omit from the base, e.g. gpu.gdrcopy, or tenants.vision for an entry of a merged list",
    )
