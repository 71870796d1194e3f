"""Requests to the API server: through the official client's connection handling, without its generated calls."""

import json
import re
import threading
from dataclasses import dataclass, field
from typing import Any

from urllib3.exceptions import HTTPError

from simulator.plugins.provider.settings import BadSettingsError, ProviderSettings, kubeconfig_content

# At most so many requests at once, however parallel the engine is: the client's default would open a connection each.
PARALLEL_REQUESTS = 16
# Seconds to connect and to wait for an answer; a create with admission webhooks may take up to 30.
TIMEOUT = (5, 60)

_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')

JSON = "application/json"
APPLY = "application/apply-patch+yaml"
JSON_PATCH = "application/json-patch+json"


class UnreachableError(Exception):
    """There is no talking to the API server: wrong address, no network, wrong credentials, no configuration."""


class ApiError(Exception):
    """The API server refused a request. The text is the server's own."""

    def __init__(self, status: int, reason: str, message: str, details: dict[str, Any] | None = None) -> None:
        super().__init__(message or f"{status} {reason}")
        self.status = status
        self.reason = reason
        self.details = details or {}


@dataclass(frozen=True)
class Answer:
    """A response's object, and the server's warnings about the request."""

    body: dict[str, Any]
    warnings: tuple[str, ...] = field(default=())


class Connection:
    """One cluster, as one user."""

    def __init__(self, settings: ProviderSettings) -> None:
        """Return raises UnreachableError when the configuration does not lead to a cluster."""
        if not settings.known:
            raise UnreachableError("the provider's kubeconfig is not known yet (it is an output of another resource)")
        # 0.25 s of the start of every provider process, half of which are never configured.
        from kubernetes.client import ApiClient, ApiException, Configuration  # noqa: PLC0415
        from kubernetes.config import ConfigException  # noqa: PLC0415

        self._slots = threading.BoundedSemaphore(PARALLEL_REQUESTS)
        self._failures = (HTTPError, OSError, ApiException)
        configuration = Configuration()
        try:
            self.default_namespace = settings.namespace or _configure(configuration, settings)
        except (ConfigException, BadSettingsError) as error:
            raise UnreachableError(str(error)) from error
        configuration.retries = False
        configuration.connection_pool_maxsize = PARALLEL_REQUESTS
        self.server = configuration.host
        self._client = ApiClient(configuration)

    def request(
        self,
        method: str,
        path: str,
        *,
        query: dict[str, str] | None = None,
        body: Any = None,
        content_type: str = JSON,
        timeout: tuple[float, float] = TIMEOUT,
    ) -> Answer:
        """One request. Raises ApiError when the server refuses it, UnreachableError when there is no answer."""
        headers = {"Accept": JSON}
        if body is not None:
            headers["Content-Type"] = content_type
        serialized = self._client.param_serialize(
            method, path, query_params=list((query or {}).items()), header_params=headers, auth_settings=["BearerToken"]
        )
        try:
            with self._slots:
                response = self._client.call_api(*serialized[:3], body, [], timeout)
                text: bytes = response.read() or b"{}"  # type: ignore[no-untyped-call]
        except self._failures as error:
            raise UnreachableError(f"the API server at {self.server} cannot be reached: {_cause(error)}") from error
        return self._answer(response.status, response.response.headers.getlist("Warning"), text)

    def _answer(self, status: int, warnings: list[str], text: bytes) -> Answer:
        try:
            body = json.loads(text)
        except ValueError:
            body = {"message": text.decode(errors="replace").strip()}
        if status == 401:  # noqa: PLR2004
            raise UnreachableError(
                f"the API server at {self.server} does not accept the kubeconfig's credentials (401 Unauthorized); "
                "log in again, or correct the provider's kubeconfig and context"
            )
        if status >= 400:  # noqa: PLR2004
            details = body.get("details") if isinstance(body.get("details"), dict) else {}
            raise ApiError(status, str(body.get("reason", "")), str(body.get("message", "")), details)
        return Answer(body, tuple(warning_texts(warnings)))


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


def _cause(error: BaseException) -> str:
    """Return the reason at the bottom of urllib3's wrapping, such as `[Errno 111] Connection refused`."""
    inner = getattr(error, "reason", None)
    while isinstance(inner, BaseException):
        error, inner = inner, getattr(inner, "reason", None)
    text = str(error).rpartition("Failed to establish a new connection: ")[2]
    return text or type(error).__name__


def warning_texts(headers: list[str]) -> list[str]:
    """Return the texts of `299 - "text"` headers; a quotation mark in a text has a backslash before it."""
    found = (_QUOTED.search(header) for header in headers)
    return [re.sub(r"\\(.)", r"\1", match[1]) for match in found if match]
