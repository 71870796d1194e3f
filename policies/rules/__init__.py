"""All rules, one per module; the order is the order of their reports."""

from policies.rule import Rule
from policies.rules.gpu_limit import GPU_LIMIT
from policies.rules.rdma_exactly_one import RDMA_EXACTLY_ONE
from policies.rules.rdma_ipc_lock import RDMA_IPC_LOCK

RULES: tuple[Rule, ...] = (RDMA_IPC_LOCK, GPU_LIMIT, RDMA_EXACTLY_ONE)
