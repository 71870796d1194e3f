"""What becomes of training jobs whose nodes, pods or GPUs are lost, under the real controllers."""
