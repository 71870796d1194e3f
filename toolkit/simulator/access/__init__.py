"""Who may talk to a simulated cluster's API server: keys, certificates, tokens and kubeconfigs."""
