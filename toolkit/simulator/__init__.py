"""The simulated cluster: real control plane, simulated nodes, pods and operators."""
