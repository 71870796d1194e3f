"""OpenShift's service CA: the certificates that annotated Services serve with, and its CA for those that call them.

It works for Secrets of Services and for webhook configurations, not for ConfigMaps, APIServices and definitions; a
certificate is as long-lived as the cluster and is never rotated. Source of names: openshift/service-ca-operator.
"""

import base64
import logging

from cryptography import x509

from core.apis import kinds, names
from toolkit.simulator import pods
from toolkit.simulator.access.pki import Authority
from toolkit.simulator.actors.api import SERVICE, VALIDATING_WEBHOOK_CONFIGURATION, ApiError, Object
from toolkit.simulator.actors.informer import Informer, Key, Loop
from toolkit.simulator.actors.runtime import Runtime
from toolkit.simulator.home import Layout
from toolkit.simulator.manifests import manifest, owner_reference, simulated_by

log = logging.getLogger(__name__)

NAME = "service-ca"
ORIGIN = "service.beta.openshift.io/originating-service-name"


class ServiceCa:
    """Watches Services and webhook configurations, with the account of OpenShift's own operator."""

    def __init__(self, runtime: Runtime) -> None:
        self._api = runtime.identity(NAME)
        self._authority = Authority.stored(Layout(runtime.settings.home).pki, NAME)
        self._signed = Loop("service CA, Services", self._sign)
        self._services = Informer(self._api, SERVICE, lambda key, *_: self._signed.add(key))
        self._injected: list[tuple[Informer, Loop]] = []
        for kind in (kinds.MUTATING_WEBHOOK_CONFIGURATION, VALIDATING_WEBHOOK_CONFIGURATION):
            self._inject_into(kind)

    def start(self) -> None:
        """Start."""
        for part in (self._services, self._signed, *(cache for pair in self._injected for cache in pair)):
            part.start()

    def _inject_into(self, kind: kinds.Kind) -> None:
        def inject(key: Key) -> None:
            configuration = cache.get(key[1])
            if configuration is not None and (missing := without_ca(configuration, self._authority.certificate)):
                self._api.apply(kind, manifest(kind, key[1], webhooks=missing))

        loop = Loop(f"service CA, {kind.plural}", inject)
        cache = Informer(self._api, kind, lambda key, *_: loop.add(key))
        self._injected.append((cache, loop))

    def _sign(self, key: Key) -> None:
        service = self._services.get(key[1], key[0])
        if service is None or pods.deleting(service) or names.SERVING_CERTIFICATES not in pods.annotations(service):
            return
        try:
            self._api.create(kinds.SECRET, serving(service, self._authority), key[0])
        except ApiError as error:
            if not error.conflict:  # it is there already, and stays as it is
                raise


def serving(service: Object, authority: Authority) -> Object:
    """Return the Secret that a Service's annotation asks for: a pair for its names in the cluster."""
    meta = service["metadata"]
    host = f"{meta['name']}.{meta['namespace']}.svc"
    addresses = [x509.DNSName(name) for name in (host, f"{host}.cluster.local")]
    certificate, key = authority.issue(host, addresses)
    return manifest(
        kinds.SECRET,
        pods.annotations(service)[names.SERVING_CERTIFICATES],
        meta["namespace"],
        annotations={ORIGIN: meta["name"], **simulated_by(NAME)},
        owners=[owner_reference({"apiVersion": "v1", "kind": "Service", **service}, controller=False)],
        type="kubernetes.io/tls",
        data={"tls.crt": _text(certificate), "tls.key": _text(key)},
    )


def without_ca(configuration: Object, certificate: bytes) -> list[Object]:
    """Return the webhooks of an annotated configuration with the CA, none when all of them have it."""
    if pods.annotations(configuration).get(names.INJECT_CA) != "true":
        return []
    bundle = _text(certificate)
    webhooks = configuration.get("webhooks") or []
    if all(webhook["clientConfig"].get("caBundle") == bundle for webhook in webhooks):
        return []
    return [{"name": webhook["name"], "clientConfig": {"caBundle": bundle}} for webhook in webhooks]


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode()
