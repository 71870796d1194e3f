"""The actors: what plays nodes' kubelets, hardware and closed operators, cause before effect."""
