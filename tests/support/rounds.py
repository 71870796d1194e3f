"""How long tests try at random: a few rounds before every commit, and HPC_ROUNDS times as many where that is set."""

import os

ROUNDS = int(os.environ.get("HPC_ROUNDS", "1"))
