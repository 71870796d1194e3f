"""Settings of the state: its backend and secrets provider. Credentials come from the environment."""

import re
from collections.abc import Mapping
from typing import Any

from pydantic import Field, field_validator, model_validator

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
