"""All that commands know of the simulator: imported only where a stack's cluster is simulated, and by `./hpc sim`."""
