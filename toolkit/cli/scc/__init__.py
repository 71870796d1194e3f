"""What `./hpc scc explain` does: files to a cluster and pods, pods to verdicts, verdicts to tables."""
