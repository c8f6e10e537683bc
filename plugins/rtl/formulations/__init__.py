"""Simulation: networks of processes and FIFOs, run to exact event times.

`network` states a network, `engine` runs it, `activity` says where its time went; none of them
knows an accelerator. `arrays` derives the network of a systolic array, `trace` writes what happened
for viewers, `timeline` says when modules worked. `carrying` runs a network with data, `values`
compares what an array computes with NumPy.
"""
