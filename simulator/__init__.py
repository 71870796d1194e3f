"""The simulated cluster: real control plane, played nodes, pods and operators."""
