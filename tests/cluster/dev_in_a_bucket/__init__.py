"""Tests of one life of stack dev: brought up with its state in an object store, reviewed, and removed."""
