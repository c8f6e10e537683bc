"""Channels of a memory that arrays at work at the same time have for themselves."""

from __future__ import annotations

from dataclasses import replace

from ithaca.formulations.question import Minimise
from ithaca.formulations.systolic.question import ArrayQuestion


def divides_channels(request: ArrayQuestion) -> bool:
    """Whether tensors have several memory ports, and arrays, which work at the same time or divide
    the bandwidth, have the channels in equal parts."""
    together = request.minimise is Minimise.SLOWEST or "bandwidth" in request.shares
    return request.space.ports is not None and together


def beside(request: ArrayQuestion, arrays: int) -> ArrayQuestion | None:
    """The question about arrays of which each has as many channels of the memory as any other, and
    no more ports of a tensor; None where there is no channel for each.

    Parameters
    ----------
    request : ArrayQuestion
        The question, with all channels.
    arrays : int
        How many arrays have them in equal parts.
    """
    ports = request.space.ports
    if ports is None or not divides_channels(request):
        return request
    own = ports.channels // arrays
    if not own:
        return None
    device, ports = request.platform, replace(ports, most=min(ports.most, own), channels=own)
    if device.technology.memory.channels:  # of a file, whose technology states the channels
        memory = replace(device.technology.memory, channels=own)
        device = replace(device, technology=replace(device.technology, memory=memory))
    return replace(request, platform=device, space=replace(request.space, ports=ports))
