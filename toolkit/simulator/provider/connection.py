"""Requests of the provider to its cluster: at most a few at once, with the server's warnings."""

import re
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from urllib3.exceptions import HTTPError

from core.apis.client import BAD_REQUEST, JSON, UNAUTHORIZED, ApiError, cause, status_of
from toolkit.simulator.provider.settings import BadSettingsError, ProviderSettings, kubeconfig_content

# At most so many requests at once, however parallel the engine is: the client's default would open a connection each.
PARALLEL_REQUESTS = 16
# Seconds to connect and to wait for an answer; a create with admission webhooks may take up to 30.
TIMEOUT = (5, 60)

_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')


class UnreachableError(Exception):
    """There is no talking to the API server: wrong address, no network, wrong credentials, no configuration."""


@dataclass(frozen=True)
class Answer:
    """A response's object, and the server's warnings about the request."""

    body: dict[str, Any]
    warnings: tuple[str, ...] = field(default=())


class Connection:
    """One cluster, as one user."""

    def __init__(self, settings: ProviderSettings) -> None:
        """Connect as the settings say; raise UnreachableError where they do not lead to a cluster."""
        if not settings.determined:
            raise UnreachableError("the provider's kubeconfig is not known yet (it is an output of another resource)")
        # 0.25 s of the start of every provider process, half of which are never configured.
        from kubernetes.client import ApiClient, Configuration  # noqa: PLC0415
        from kubernetes.config import ConfigException  # noqa: PLC0415

        from core.apis.kubeconfig import configured, without_files  # noqa: PLC0415

        self._slots = threading.BoundedSemaphore(PARALLEL_REQUESTS)
        configuration = Configuration()
        try:
            with without_files():
                of_context = _configure(configuration, settings)
                configuration.connection_pool_maxsize = PARALLEL_REQUESTS
                self._client = configured(ApiClient(configuration), timeout=TIMEOUT, retries=False)
        except (ConfigException, BadSettingsError, OSError) as error:
            raise UnreachableError(str(error)) from error
        self.default_namespace = settings.namespace or of_context
        self.server = configuration.host

    def request(
        self,
        method: str,
        path: str,
        *,
        query: dict[str, str] | None = None,
        body: Any = None,
        content_type: str = JSON,
    ) -> Answer:
        """Send one request; raise ApiError when the server refuses it, UnreachableError when there is no answer."""
        try:
            with self._slots:
                response = self._client.send(method, path, query=query, body=body, content_type=content_type)
        except (HTTPError, OSError) as error:
            raise UnreachableError(f"the API server at {self.server} cannot be reached: {cause(error)}") from error
        if response.status == UNAUTHORIZED:
            raise UnreachableError(
                f"the API server at {self.server} does not accept the kubeconfig's credentials (401 Unauthorized); "
                "log in again, or correct the provider's kubeconfig and context"
            )
        content = status_of(response.status, response.body or b"{}")
        if response.status >= BAD_REQUEST:
            details = content.get("details") if isinstance(content.get("details"), dict) else {}
            raise ApiError(response.status, str(content.get("reason", "")), str(content.get("message", "")), details)
        return Answer(content, tuple(warning_texts(response.warnings)))


def _configure(configuration: Any, settings: ProviderSettings) -> str:
    """Fill in the client's configuration; the namespace of the context, if it has one."""
    from kubernetes.config import (  # noqa: PLC0415
        load_incluster_config,
        load_kube_config,
        load_kube_config_from_dict,
    )

    content, path = kubeconfig_content(settings.kubeconfig)
    if not content:
        load_incluster_config(client_configuration=configuration)  # type: ignore[no-untyped-call]
        return ""
    context = settings.context or content.get("current-context") or None
    names = [item.get("name") for item in content.get("contexts") or []]
    if context not in names:
        raise BadSettingsError(
            f"kubeconfig {path or '(given as text)'} has no context {context!r}; it has {', '.join(map(repr, names))}"
        )
    if settings.cluster:
        for item in content["contexts"]:
            if item["name"] == context:
                item["context"]["cluster"] = settings.cluster
    options = {"context": context, "client_configuration": configuration, "persist_config": False}
    if path is not None and not settings.cluster:
        load_kube_config(config_file=str(path), **options)  # type: ignore[no-untyped-call]
    else:
        load_kube_config_from_dict(content, **options)  # type: ignore[no-untyped-call]
    selected = next(item.get("context") or {} for item in content["contexts"] if item["name"] == context)
    return str(selected.get("namespace") or "")


def warning_texts(headers: Iterable[str]) -> list[str]:
    """Return the texts of `299 - "text"` headers; a quotation mark in a text has a backslash before it."""
    matches = (_QUOTED.search(header) for header in headers)
    return [re.sub(r"\\(.)", r"\1", match[1]) for match in matches if match]
