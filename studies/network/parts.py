"""A layer of a network's result as a result of its own, so that whatever takes a solve's result
takes a layer, too."""

from __future__ import annotations

from dataclasses import replace

from ithaca.files.errors import InputError
from ithaca.files.messages import among, quoted
from ithaca.solver.certificate import OWN
from ithaca.solver.result import Result
from ithaca.solver.solution import Solution
from ithaca.studies.network.result import PER_LAYER, LayerResult, NetworkResult


def layer_result(result: NetworkResult, layer: LayerResult, source: str = OWN) -> Result:
    """The result that a solve of the layer alone would have had, of such a source; where layers
    share something, only the configuration on that.

    Of the other designs a file of a network states value and proof, not the configuration.

    Parameters
    ----------
    result : NetworkResult
        The result of the network.
    layer : LayerResult
        One of its layers.
    source : str, optional
        The file it was read from, for messages.
    """
    answer = layer.answer
    own = [d for d in layer.designs if result.mode == PER_LAYER or d.design == answer.design]
    designs = tuple(_own(design, answer) for design in own) or (answer,)
    best = (
        None
        if answer.configured is None
        else next(design for design in designs if design.design == answer.design)
    )
    runs = tuple(run for run in layer.runs if run.design == answer.design)
    return Result(result.request.place, best, designs, runs=runs, source=source)


def _own(design: Solution, answer: Solution) -> Solution:
    """A design of a layer with all that the layer's answer says of it."""
    if design.design == answer.design and answer.value is not None:
        proof = design.certificate
        exact = replace(proof, lower_bound=answer.value) if design.settled else proof
        return replace(answer, certificate=exact)
    return replace(
        design, shortfalls=tuple(s for s in answer.shortfalls if s.design == design.design)
    )


def find_layer(result: NetworkResult, name: str) -> LayerResult:
    """The layer of a name, also of one that was merged into it; of several arrays' the first.

    Raises `InputError` if there is none.
    """
    matches = [r for r in result.layers if name == r.layer.name] or [
        r for r in result.layers if name in r.layer.sources
    ]
    if not matches:
        known = among(name, (r.layer.name for r in result.layers))
        raise InputError(f"--layer is {quoted(name)}{known}")
    return matches[0]
