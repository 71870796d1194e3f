"""What the cluster holds for SCC admission."""

import base64

from policies.scc import Release, default_sccs, service_account
from policies.scc.rbac import Rbac
from toolkit.simulator.admission import manifests


def test_the_webhook_asks_for_every_pod_but_those_that_openshift_exempts() -> None:
    """The webhook is called for every pod and every change of one, and pods fail while it is down."""
    found = manifests.webhook(20443, b"PEM")
    (webhook,) = found["webhooks"]
    assert webhook["failurePolicy"] == "Fail"
    assert webhook["clientConfig"]["url"] == "https://127.0.0.1:20443/admit"
    assert base64.b64decode(webhook["clientConfig"]["caBundle"]) == b"PEM"
    requested = {
        (operation, name) for rule in webhook["rules"] for operation in rule["operations"] for name in rule["resources"]
    }
    assert requested >= {("CREATE", "pods"), ("UPDATE", "pods"), ("UPDATE", "pods/ephemeralcontainers")}
    exempt = {one["key"]: set(one["values"]) for one in webhook["namespaceSelector"]["matchExpressions"]}
    assert exempt["openshift.io/run-level"] == {"0", "1"}
    assert "kube-system" in exempt["kubernetes.io/metadata.name"]
    assert "openshift-operators" not in exempt["kubernetes.io/metadata.name"]
    assert "simulator" in found["metadata"]["annotations"]["hpc.sim/simulated-by"]


def test_today_rbac_gives_everybody_the_second_restricted_and_in_4_4_nothing() -> None:
    """RBAC gives all accounts restricted-v2 today, and none in 4.4."""
    user = service_account("adas", "default")
    releases: dict[Release, set[str]] = {"4.4": set(), "current": {"restricted-v2", "restricted-v3"}}
    for release, expected in releases.items():
        names = [scc["metadata"]["name"] for scc in default_sccs(release)]
        rbac = Rbac(manifests.access(release))
        assert rbac.usable(user, "adas", names) == expected
