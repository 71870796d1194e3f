"""Tags of a stack: of the cluster that its state is about."""

UID, SERVER = "hpc:cluster-uid", "hpc:cluster-server"
