"""Networks of Keras models: what multiplies becomes layers, all else is listed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ithaca.files.errors import InputError
from ithaca.files.messages import errors_at, escaped, quoted, refuse
from ithaca.plugins.keras.workloads.fields import LONGEST, Fields, Shape, bounded
from ithaca.plugins.keras.workloads.graph import (
    MODELS,
    MOST_CALLS,
    MOST_KERNELS,
    MOST_READS,
    Call,
    Graph,
    Tensor,
    extents,
    graph_of,
)
from ithaca.plugins.keras.workloads.layers import RULES, Uses, inputs_of
from ithaca.plugins.keras.workloads.shapes import PASSING, other_layer, unwrapped
from ithaca.workloads.networks.network import (
    Layer,
    LayerRun,
    Network,
    Omission,
    OmissionKind,
    chosen_parameters,
    merge,
)

#: Deepest nesting of layers in layers.
DEEPEST = 20

#: Name under which biases are listed.
BIAS = "Bias"

#: Name of the size of the batch.
BATCH = "batch"

#: Shapes of what a layer writes; None where one is not known.
Shapes = tuple[Shape | None, ...]


def keras_network(
    where: object, name: str, kind: str, config: Fields, sizes: Mapping[str, int]
) -> Network:
    """The network of a model.

    Parameters
    ----------
    where : object
        A path or name, with which error lines start.
    name : str
        Name of the network.
    kind : str
        The model's class.
    config : Fields
        The model's configuration.
    sizes : mapping of str to int
        Values of dimensions that the model leaves open; of its batch 1 unless stated.

    Raises
    ------
    InputError
        If it is none, a dimension is open, or no layer multiplies.
    """
    with errors_at(where):
        builder = _Builder(graph_of(kind, config), where, sizes)
        builder.run()
    layers = merge(Layer(run.source, run.nest, run.count, (run.source,)) for run in builder.runs)
    omissions = builder.omissions()
    if not layers:
        raise refuse(where, f"no layer multiplies: {_summary(omissions)}; allowed: one that does")
    return Network(
        name,
        layers,
        "Keras model",
        omissions,
        tuple(builder.parameters.items()),
        tuple(builder.runs),
        "",
        (f"{where} is taken for a model of Keras",),
    )


def _summary(omissions: Sequence[Omission]) -> str:
    """The first reason why arithmetic is left out, or the layers there are."""
    for each in omissions:
        if each.kind is OmissionKind.UNSUPPORTED:
            return f"{each.operator} {each.sources[0]!r}: {each.reason}"
    return "it has " + ", ".join(each.operator for each in omissions[:10])


class _Builder:
    """The layers of a model, as they are called one after the other."""

    def __init__(self, graph: Graph, where: object, sizes: Mapping[str, int]) -> None:
        self.graph, self.calls, self.reads = graph, 0, 0
        self._graphs: dict[tuple[str, int], Graph] = {}
        self.runs: list[LayerRun] = []
        self._omitted: dict[tuple[str, OmissionKind, str], list[tuple[str, int | None]]] = {}
        self.starts = {
            call.layer: _start(call) for call in graph.calls if call.kind == "InputLayer"
        }
        open_ = {
            _size(layer, at): 1
            for layer, shape in self.starts.items()
            for at, extent in enumerate(shape)
            if extent is None
        }
        chosen = chosen_parameters(where, open_, sizes)
        self.parameters = {
            name: value for name, value in chosen.items() if name == BATCH or name in sizes
        }

    def run(self) -> None:
        """Call all layers."""
        inputs = {layer: self._opened(layer, shape) for layer, shape in self.starts.items()}
        self._graph(self.graph, inputs, "", 0)

    def _opened(self, layer: str, shape: Sequence[int | None]) -> Shape:
        extents_ = []
        for at, extent in enumerate(shape):
            if extent is None and (extent := self.parameters.get(_size(layer, at))) is None:
                raise InputError(
                    f"dimension {at} of input {layer} is open; allowed: a number there, or its "
                    f"size: -s {_size(layer, at)}=8"
                )
            extents_.append(extent)
        return tuple(extents_)

    def _graph(self, graph: Graph, inputs: Mapping[str, Shape], prefix: str, depth: int) -> Shapes:
        """Call the layers of a graph; the shapes that it ends with."""
        if depth > DEEPEST:
            raise InputError(f"models in models, {depth} deep; allowed: at most {DEEPEST}")
        self.reads += len(graph.inputs) + len(graph.outputs)
        batch = next(iter(inputs.values()), (1,))[0]
        known: dict[Tensor, Shape | None] = {}
        for call in graph.calls:  # as far as it states them, those of layers that are not known
            for tensor, stated in call.stated.items():
                first = batch if stated and stated[0] is None else (stated or [None])[0]
                known[tensor] = extents([first, *stated[1:]])
        reads = Counter(tensor for call in graph.calls for tensor in call.reads)
        reads.update(graph.outputs)
        writers: dict[Tensor, str] = {}
        numbers = Counter(call.layer for call in graph.calls)
        for call in graph.calls:
            self.calls += 1
            self.reads += len(call.reads)
            for number, most, what in (
                (self.calls, MOST_CALLS, "calls of layers"),
                (self.reads, MOST_READS, "tensors to read"),
                (len(self.runs), MOST_KERNELS, "kernels"),
            ):
                if number > most:
                    raise InputError(f"more than {most} {what}; allowed: at most so many")
            own = (call.layer, call.number, 0)
            if call.kind == "InputLayer":
                known[own] = inputs.get(call.layer)
                continue
            again = f":{call.number}" if numbers[call.layer] > 1 else ""
            name = escaped(f"{prefix}{call.layer}{again}")
            alone = call.reads[0] if call.reads and reads[call.reads[0]] == 1 else None
            whole = bool(self.runs) and writers.get(alone or own) == self.runs[-1].source
            before = len(self.runs)
            shapes = [known.get(call.reads[n]) for n in inputs_of(call.kind, call.roles)]
            made = self._call(call.kind, call.config, shapes, name, depth)
            for place, shape in enumerate(made):
                tensor = (call.layer, call.number, place)
                known[tensor] = known.get(tensor) if shape is None else shape
            if len(self.runs) == before + 1:
                last = self.runs[-1]
                follows = whole and call.kind not in (*MODELS, "TimeDistributed")
                self.runs[-1] = LayerRun(last.source, last.nest, last.count, follows)
                writers[own] = last.source
            elif len(self.runs) == before and call.kind in PASSING and alone in writers:
                writers[own] = writers[alone]
        return tuple(known.get(tensor) for tensor in graph.outputs)

    def _call(
        self, kind: str, config: Fields, shapes: Sequence[Shape | None], name: str, depth: int
    ) -> Shapes:
        """Call a layer; the shapes of what it writes, as far as they are known."""
        inputs = [shape for shape in shapes if shape is not None]
        if len(inputs) < len(shapes) or not inputs:
            self._leave_out(kind, OmissionKind.UNSUPPORTED, name, "shape of its input is unknown")
            return ()
        try:
            if kind in MODELS:
                graph = self._within(kind, config)
                if len(graph.inputs) != len(inputs):
                    raise InputError(f"{len(inputs)} inputs; allowed: {len(graph.inputs)}")
                names = (layer for layer, _, _ in graph.inputs)
                within = dict(zip(names, inputs, strict=True))
                return self._graph(graph, within, f"{name}/", depth + 1)
            if kind == "TimeDistributed":
                inner, own = unwrapped(*config.inside("layer"))
                (batch, steps, *rest), *_ = inputs
                made = self._call(inner, own, [(batch * steps, *rest)], name, depth + 1)
                made = tuple(shape and (batch, steps, *shape[1:]) for shape in made)
            else:
                made = self._layer(kind, config, inputs, name)
            for shape in made:
                bounded(shape or (), "what it makes")
            return made
        except (InputError, IndexError, ValueError) as error:
            reason = str(error) if isinstance(error, InputError) else "its input has another rank"
            self._leave_out(kind, OmissionKind.UNSUPPORTED, name, escaped(reason))
            return ()

    def _within(self, kind: str, config: Fields) -> Graph:
        """The graph of a model within one, made once."""
        key = kind, id(config.values.get("layers"))
        if key not in self._graphs:
            self._graphs[key] = graph_of(kind, config)
        return self._graphs[key]

    def _layer(self, kind: str, config: Fields, inputs: Sequence[Shape], name: str) -> Shapes:
        """Call a layer that is no model."""
        kind, config, times, merged = *unwrapped(kind, config), 1, ""
        if kind == "Bidirectional":
            modes = ("concat", "sum", "mul", "ave", "none")
            stated = "merge_mode" in config.values  # null is none
            merged = config.text("merge_mode", "none", modes) if stated else "concat"
            (kind, config), times = unwrapped(*config.inside("layer")), 2
        if (rule := RULES.get(kind)) is not None:
            made = rule(config, inputs)
            self._add(kind, {part: use.repeated(times) for part, use in made.uses.items()}, name)
            for _ in range(made.biases * times):
                self._leave_out(BIAS, OmissionKind.ELEMENTWISE, name)
            self._activation(config, name)
            first, *states = made.shapes
            if merged == "concat":
                first = (*first[:-1], 2 * first[-1])
            return (first, *([first] if merged == "none" else []), *states * times)
        other = other_layer(kind, config, inputs)
        if other is None:
            own = kind == "Lambda"
            reason = "code of its own, which is not run" if own else "no kernel is known for it"
            self._leave_out(kind, OmissionKind.UNSUPPORTED, name, reason)
            shape = config.values.get("output_shape") if own else None
            shape = extents(shape) if isinstance(shape, list) else None
            return () if shape is None else ((inputs[0][0], *shape),)
        shape, what = other
        self._leave_out(kind, what, name)
        return (shape,)

    def _activation(self, config: Fields, name: str) -> None:
        word = config.values.get("activation")
        if isinstance(word, str) and word != "linear":
            self._leave_out(escaped(word[:LONGEST].title()), OmissionKind.ELEMENTWISE, name)

    def _add(self, kind: str, uses: Uses, name: str) -> None:
        """Add layers of kernels, or say why they are none."""
        try:
            made = [use.layer(f"{name}.{part}" if part else name) for part, use in uses.items()]
        except InputError as error:
            work = sum(use.operations for use in uses.values())
            reason = escaped(str(error).removeprefix(f"layer {name}: "))
            self._leave_out(kind, OmissionKind.UNSUPPORTED, name, reason, work)
            return
        self.runs += (LayerRun(each.name, each.nest, each.count) for each in made)

    def _leave_out(
        self,
        operator: str,
        kind: OmissionKind,
        name: str,
        reason: str = "",
        work: int | None = None,
    ) -> None:
        key = (escaped(operator), kind, reason)
        self._omitted.setdefault(key, []).append((name, work))

    def omissions(self) -> tuple[Omission, ...]:
        """All that is no layer."""
        made = []
        for (operator, kind, reason), several in self._omitted.items():
            known = [work for _, work in several if work is not None]
            work = sum(known) if known and len(known) == len(several) else None
            names = tuple(name for name, _ in several)
            made.append(Omission(operator, len(several), kind, reason, names, work))
        return tuple(made)


def _start(call: Call) -> list[int | None]:
    """The shape of an input, None for what is open."""
    config = call.config.values
    shape = config.get("batch_shape", config.get("batch_input_shape"))
    if shape is None and isinstance(config.get("shape"), list):
        shape = [None, *config["shape"]]
    if not isinstance(shape, list) or not shape:
        raise InputError(f"input {quoted(call.layer)} states no shape; allowed: batch_shape")
    bounded(shape, f"input {quoted(call.layer)}")
    return [
        None if extent is None else Fields({"batch_shape": extent}).number("batch_shape")
        for extent in shape
    ]


def _size(layer: str, place: int) -> str:
    """Name of the size of an open dimension."""
    return f"{layer}_{place}" if place else BATCH
