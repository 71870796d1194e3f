"""Clients from kubeconfigs: the official client reads them, because it knows every way to log in.

Half a second of imports, so whoever has another way to the server's address and a token does without.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from kubernetes import config
from kubernetes.client import ApiClient
from kubernetes.config import ConfigException, kube_config
from urllib3.util.ssl_ import create_urllib3_context

from core.apis.client import Client, Timeout


class KubeconfigError(Exception):
    """A kubeconfig, or a context of it, that does not lead to a server; the text is the reason."""


def client(file: Path, context: str, *, timeout: Timeout, retries: bool | None = None) -> Client:
    """Return the client of a kubeconfig's context; the ambient current context is never used."""
    try:
        with without_files():
            api_client: ApiClient = config.new_client_from_config(str(file), context)  # type: ignore[no-untyped-call]
            return configured(api_client, timeout=timeout, retries=retries)
    except (ConfigException, yaml.YAMLError, ValueError, TypeError, AttributeError, OSError) as error:
        # The official client takes the values of a kubeconfig for text that they may not be.
        raise KubeconfigError(str(error) or type(error).__name__) from error


@contextmanager
def without_files() -> Iterator[None]:
    """Remove the files that the official client makes of certificates and keys: a process that is killed leaves them.

    By itself it removes them when the interpreter exits. Nothing reads them any more once a client is `configured`.
    Its `temp_file_path` does not help: it remembers files by their content, also those that were removed.
    """
    temporary: dict[str, str] = kube_config._temp_files
    before = set(temporary)
    try:
        yield
    finally:
        for content in set(temporary) - before:
            Path(temporary.pop(content)).unlink(missing_ok=True)


def configured(official: ApiClient, *, timeout: Timeout, retries: bool | None) -> Client:
    """Return the client that has the connections and the identity of the official one.

    Raises OSError for certificates or keys that cannot be read.
    """
    configuration: Any = official.configuration
    _read_certificates(official.rest_client.pool_manager.connection_pool_kw, configuration.host)

    def identity() -> Mapping[str, str]:
        token = configuration.auth_settings().get("BearerToken")  # asks for a new one when it has expired
        return {token["key"]: token["value"]} if token else {}

    return Client(configuration.host, official.rest_client.pool_manager, identity, timeout, retries)


def _read_certificates(options: dict[str, Any], server: str) -> None:
    """Have new connections take certificates and keys from memory."""
    trusted, certificate, key = (options.pop(name, None) for name in ("ca_certs", "cert_file", "key_file"))
    context = create_urllib3_context(cert_reqs=options["cert_reqs"])
    if trusted:
        context.load_verify_locations(trusted)
    elif server.startswith("https"):  # the machine's own take 20 ms
        context.load_default_certs()
    if certificate:
        context.load_cert_chain(certificate, key)
    options["ssl_context"] = context
