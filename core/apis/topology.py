"""Topology-aware scheduling of Kueue: labels of nodes, and annotations of pod templates (Kueue, topology_types.go)."""

from collections.abc import Mapping

HOST = "host"
HOSTNAME = "kubernetes.io/hostname"
"""The level below all others, and its label, which every node has."""
LABELS: Mapping[str, str] = {
    level: f"network.topology.nvidia.com/{level}" for level in ("core", "spine", "leaf", "accelerator")
}
"""Levels of a fabric from the widest to the narrowest -> the label that NVIDIA's Topograph gives nodes for it."""
REQUIRED = "kueue.x-k8s.io/podset-required-topology"
PREFERRED = "kueue.x-k8s.io/podset-preferred-topology"
"""With a label: all pods on nodes that have one value of it, or as close to that as there is room."""
