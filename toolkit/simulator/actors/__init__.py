"""The actors: they simulate nodes' kubelets, hardware and closed operators, cause before effect."""
