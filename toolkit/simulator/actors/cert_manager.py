"""Red Hat's operator for cert-manager, simulated; the controller, webhook and CA injector that it starts are real.

Names, conditions, commands and arguments: openshift/cert-manager-operator, bindata/ and pkg/controller/certmanager.
"""

from functools import cached_property
from pathlib import Path

from core.apis import kinds
from core.apis.kinds import Kind
from toolkit.engine.tools.versions import CERT_MANAGER
from toolkit.simulator import names, pods
from toolkit.simulator.access.rbac import READ, Rule
from toolkit.simulator.actors import cert_manager_chart as chart
from toolkit.simulator.actors import grants, job_manifests
from toolkit.simulator.actors.api import SERVICE, Object, stated
from toolkit.simulator.actors.controllers import Controller
from toolkit.simulator.actors.podactor import Operator
from toolkit.simulator.manifests import deployment, manifest, simulated_by
from toolkit.simulator.processes import ports

RESOURCE = Kind("operator.openshift.io", "v1alpha1", "CertManager", "certmanagers", "Cluster")
NAME = "cluster"
BY = "cert-manager's operator"
IMAGE = "registry.redhat.io/cert-manager/jetstack-cert-manager-rhel9:v1.18.0"
"""One image of all three programs."""
COMMANDS = {part: f"/app/cmd/{part}/{part}" for part in ("controller", "webhook", "cainjector")}
DEPLOYMENTS = {"controller": chart.CONTROLLER, "webhook": chart.WEBHOOK, "cainjector": chart.INJECTOR}
POD_PORT = 10250
"""Where the webhook's pod serves."""
SERVICE_PORT = 443
NO_TOOL = "the simulated cluster was started without the cert-manager tool"
AGAIN_SECONDS = 1.0
OPERATOR_RULES = (
    *job_manifests.MAKING,
    Rule(("",), ("namespaces",), (*READ, "create", "update", "patch")),
    # It gives cert-manager the rights that cert-manager publishes, which are more than its own.
    Rule((kinds.ROLE.group,), ("clusterroles", "roles"), ("escalate", "bind")),
)


class CertManagerOperator(Operator):
    """Creates the CertManager `cluster` where it is missing, and keeps what belongs to it."""

    watched = ((RESOURCE, None), (kinds.DEPLOYMENT, chart.NAMESPACE))

    def reconcile(self) -> float | None:
        """Make definitions, then the three programs; say of each whether it is available."""
        resource = self.caches[RESOURCE].get(NAME)
        if resource is None or pods.deleting(resource):
            self.api.apply(RESOURCE, manifest(RESOURCE, NAME, spec={"managementState": "Managed"}))
            return None  # its own change wakes this
        if resource["spec"].get("managementState", "Managed") != "Managed":
            return None
        tools = self.runtime.settings.tools
        definitions, charts = tools.get("cert-manager-manifests"), tools.get("cert-manager-chart")
        if definitions is None or charts is None:
            self.log_line(f"E {NO_TOOL}")
            return None
        made = {part: self.caches[kinds.DEPLOYMENT].get(name, chart.NAMESPACE) for part, name in DEPLOYMENTS.items()}
        self.settle(resource, lambda: operands(definitions, charts), missing=None in made.values())
        self._set_status(resource, made)
        return None

    def _set_status(self, resource: Object, made: dict[str, Object | None]) -> None:
        conditions: dict[str, tuple[str, str, str]] = {}
        for part, found in made.items():
            prefix = f"cert-manager-{part}-deployment"
            available = found is not None and pods.condition(found, "Available")
            conditions[f"{prefix}Available"] = (str(available), "AsExpected" if available else "Deploying", "")
            conditions[f"{prefix}Degraded"] = ("False", "AsExpected", "")
        self.api.set_status(RESOURCE, resource, {"conditions": stated(resource, conditions)})


def operands(definitions: Path, charts: Path) -> grants.Grant:
    """Return all that the operator makes. OLM brings the definitions in the field, with the operator's bundle."""
    ports_ = [{"name": "https", "port": SERVICE_PORT, "targetPort": POD_PORT}]
    service = {"selector": {"app": chart.WEBHOOK}, "ports": ports_}
    return [
        *((kinds.CUSTOM_RESOURCE_DEFINITION, definition) for definition in job_manifests.definitions(definitions)),
        (kinds.NAMESPACE, manifest(kinds.NAMESPACE, chart.NAMESPACE, annotations=simulated_by(BY))),
        *(grants.service_account(chart.NAMESPACE, name) for name in DEPLOYMENTS.values()),
        *chart.objects(charts),
        (SERVICE, manifest(SERVICE, chart.WEBHOOK, chart.NAMESPACE, spec=service)),
        *(_deployment(part, name) for part, name in DEPLOYMENTS.items()),
    ]


def _deployment(part: str, name: str) -> tuple[Kind, Object]:
    container = {"name": f"cert-manager-{part}", "image": IMAGE, "command": [COMMANDS[part]], "args": ["--v=2"]}
    return deployment(chart.NAMESPACE, name, {"serviceAccountName": name, "containers": [container]}, BY)


class _Program(Controller):
    """One of cert-manager's programs: a subcommand of one tool."""

    tool = "cert-manager"
    part: str

    def command(self, kubeconfig: Path) -> list[str | Path]:
        """Return the arguments, as the operator gives them but for what would listen beyond loopback."""
        self.log_line(f"real: cert-manager {CERT_MANAGER} on a simulated cluster, in place of the image {IMAGE}")
        return ["-kubeconfig", kubeconfig, "-namespace", self.namespace, *self.listening(), self.part]

    def listening(self) -> tuple[str, ...]:
        """Return the arguments about a webhook."""
        return ()

    def accompany(self) -> None:
        """Let the pod be ready: these have no readiness probe, which the image's third program has."""
        self._annotate({names.UNREADY: None})


class CertManager(_Program):
    """Issues certificates."""

    part = "controller"


class CaInjector(_Program):
    """Puts CAs into webhook configurations and definitions that ask for them."""

    part = "cainjector"


class CertManagerWebhook(_Program):
    """Validates cert-manager's objects; its CA is its own, in a Secret."""

    part = "webhook"
    pod_port = POD_PORT

    @cached_property
    def port(self) -> int:
        """Where it serves; a new pod of its Deployment starts beside the old one."""
        return ports.free()

    def listening(self) -> tuple[str, ...]:
        """Return port, Secret and names."""
        called = ",".join((chart.WEBHOOK, f"{chart.WEBHOOK}.{self.namespace}", f"{chart.WEBHOOK}.{self.namespace}.svc"))
        return ("-port", str(self.port), "-secret", chart.CA_SECRET, "-dns-names", called)

    def accompany(self) -> None:
        """Leave readiness to its probe."""
