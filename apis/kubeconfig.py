"""Clients from kubeconfigs: the official client reads them, because it knows every way to log in.

Half a second of imports, so whoever has another way to the server's address and a token does without.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from kubernetes import config
from kubernetes.client import ApiClient
from kubernetes.config import ConfigException

from apis.client import Client, Timeout


class KubeconfigError(Exception):
    """A kubeconfig, or a context of it, that does not lead to a server; the text is the reason."""


def client(file: Path, context: str, *, timeout: Timeout, retries: bool | None = None) -> Client:
    """Return the client of a kubeconfig's context; the ambient current context is never used."""
    try:
        found: ApiClient = config.new_client_from_config(str(file), context)  # type: ignore[no-untyped-call]
    except (ConfigException, yaml.YAMLError, ValueError, TypeError, AttributeError, OSError) as error:
        # The official client takes the values of a kubeconfig for text that they may not be.
        raise KubeconfigError(str(error) or type(error).__name__) from error
    return configured(found, timeout=timeout, retries=retries)


def configured(official: ApiClient, *, timeout: Timeout, retries: bool | None) -> Client:
    """Return the client that has the connections and the identity of the official one."""
    configuration: Any = official.configuration

    def identity() -> Mapping[str, str]:
        token = configuration.auth_settings().get("BearerToken")  # asks for a new one when it has expired
        return {token["key"]: token["value"]} if token else {}

    return Client(configuration.host, official.rest_client.pool_manager, identity, timeout, retries)
