"""Prints its process id, and does not end."""

import os
import time
from pathlib import Path

import pulumi

Path(pulumi.Config("kit").require("file")).write_text(str(os.getpid()))
time.sleep(600)
