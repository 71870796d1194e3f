"""Dumps of PyTorch's flight recorder: the collective operations of one rank before it failed or was asked.

Schema 2.x, as torch/csrc/distributed/c10d/FlightRecorder.hpp writes it; read without PyTorch.
"""
