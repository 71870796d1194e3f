"""`./hpc check`: the policies over plain manifests, without an engine and without a cluster."""
