"""Queues over machines of one kind."""

from collections.abc import Mapping
from typing import Any

from components.queues.quota import Quota

FLAVOR = "dgx-a100"
_OF_FLAVOR = ("node_labels", "rdma", "levels", "taints", "tolerations")


def queues_of(quotas: Mapping[str, Quota], **fields: Any) -> dict[str, Any]:
    """Return the arguments of queues with one flavor; `fields` are those of the flavor and of the queues."""
    flavor = {"name": FLAVOR, **{name: fields.pop(name) for name in _OF_FLAVOR if name in fields}}
    tenants = [{"namespace": tenant, "quotas": {FLAVOR: quota}} for tenant, quota in quotas.items()]
    return {"flavors": [flavor], "tenants": tenants, **fields}
