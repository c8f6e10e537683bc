"""`ithaca.build`: exported hardware, simulated and synthesized."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from math import ceil
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

from pydantic import ConfigDict
from typer import Argument, Option

from ithaca.commands.api.keywords import public
from ithaca.commands.api.live_line import tell
from ithaca.commands.api.options import TimeLimit
from ithaca.commands.api.outputs import WRITTEN_FILE
from ithaca.exports.layers import TABLE
from ithaca.files.documents import validated
from ithaca.files.errors import InputError
from ithaca.files.numbers import number
from ithaca.files.reading import parse_json, read_text
from ithaca.files.staging import recover
from ithaca.files.words import REPEATED, parse_choice, parse_counts, parse_integer
from ithaca.files.writing import SCHEMA, check_writable, write_folder
from ithaca.formulations.documents import Document
from ithaca.formulations.machine import MemoryTiming
from ithaca.plugins.rtl.exports.again import differences, folders_of, in_words, made_again
from ithaca.plugins.rtl.exports.tools import Resources, Run, compiled
from ithaca.plugins.rtl.exports.tools import synthesize as run_synthesis

#: Largest ``expected.json`` (bytes).
MAX_BYTES = 65_536


class HardwareDocument(Document):
    """Requirements on generated hardware, as ``expected.json`` states them; further fields describe
    it."""

    model_config = ConfigDict(extra="allow")

    design: str
    machine: dict[str, bool | int | str]
    elements: int
    macs: int
    cycle: int | float | None
    simulated: int | None
    hangs: bool | None
    proven: bool
    vectors: bool
    dsp: int | float
    bram18k: int | float
    lut: int | float | None = None
    lutram: int | float | None = None
    ff: int | float | None = None
    memory: dict[str, int] | None = None


class ExpectedDocument(Document):
    """The whole of ``expected.json``: hardware of one layer, or an array that runs several."""

    model_config = ConfigDict(extra="allow")

    rtl: HardwareDocument | None = None
    layers: dict[str, HardwareDocument] | None = None


@dataclass(frozen=True)
class Build:
    """The answer of `ithaca.build`: what hardware did, beside what it must do.

    Examples
    --------
    >>> built = ithaca.build("rtl")  # doctest: +SKIP
    >>> built.right  # doctest: +SKIP
    True
    """

    folder: Path
    """The folder of the hardware."""
    expected: HardwareDocument
    """The requirements on the hardware, as its folder states them."""
    runs: tuple[Run, ...] = ()
    """Simulations: without stalls, and with them if that was asked for."""
    resources: Resources | None = None
    """The resources by synthesis, if that was asked for."""
    differs: tuple[str, ...] = ()
    """How it differs from what Ithaca generates, if it was run nevertheless: then nothing that it
    does says anything about a proof."""

    @property
    def right(self) -> bool:
        """Whether everything that was run is as stated."""
        stated = self.expected
        return all(
            run.right == stated.elements and not run.hangs and not run.rules for run in self.runs
        ) and (stated.memory is not None or stated.simulated in (None, self.runs[0].cycles))

    @property
    def lines(self) -> tuple[str, ...]:
        """Lines for people about the runs: cycles, elements, and broken rules."""
        plain, *stalled = self.runs
        lines = [f"{self._cycles(plain)}; {self._elements(plain)}"]
        if self.differs:
            lines.append(f"not what Ithaca generates: {in_words(self.differs)}")
        model: str = "the closed form"
        cycles: float | None = self.expected.cycle
        if self.expected.memory is not None:
            words = ",".join(f"{name}={n}" for name, n in self.expected.memory.items())
            model, cycles = f"ithaca simulate --memory {words}", self.expected.simulated
        if self.differs or plain.hangs or self.expected.hangs:
            cycles = None
        if cycles not in (None, plain.cycles):
            error = cycles / plain.cycles - 1
            lines.append(f"{model}: {number(cycles)} cycles ({error:+.2%})")
        for run in stalled:
            took = "hangs" if run.hangs else f"{number(run.cycles)} cycles"
            lines.append(f"with random stalls: {took}; {self._elements(run)}")
        lines += [f"a rule is broken: {rule}" for run in self.runs for rule in run.rules]
        return tuple(lines)

    def _cycles(self, run: Run) -> str:
        stated = self.expected
        if run.hangs:
            if stated.hangs and not self.differs:
                return "hangs, as ithaca simulate says"
            return f"hangs: given up after {number(run.cycles)} cycles"
        took = f"{number(run.cycles)} cycles"
        if stated.memory is not None:
            each = ", ".join(f"{name} {number(n)}" for name, n in stated.memory.items())
            return f"{took} from start to done, twice (memory: {each})"
        if self.differs:
            return took
        if stated.hangs or stated.simulated not in (None, run.cycles):
            simulated = "that it hangs" if stated.hangs else number(stated.simulated)
            return f"{took}, but ithaca simulate says {simulated}"
        if run.right != stated.elements:
            return took
        if stated.proven and run.cycles == stated.cycle:
            return f"{took}, as proven"
        return took if stated.simulated is None else f"{took}, as simulated"

    def _elements(self, run: Run) -> str:
        every = self.expected.elements
        if run.right == every:
            return f"{number(every)} elements right"
        late = every - run.right - run.wrong
        parts = [(run.wrong, "are wrong"), (late, "never come")]
        return f"of {number(every)} elements " + " and ".join(
            f"{number(count)} {what}" for count, what in parts if count
        )

    @property
    def document(self) -> dict[str, Any]:
        """The build as a JSON document."""
        return {
            "schema": SCHEMA,
            "build": {
                "expected": self.expected.model_dump(),
                "right": self.right,
                "runs": [asdict(run) for run in self.runs],
                "resources": None if self.resources is None else asdict(self.resources),
                **({"differs": list(self.differs)} if self.differs else {}),
            },
        }

    def __repr__(self) -> str:
        return f"<Build: {self.lines[0]}>"


@dataclass(frozen=True)
class NetworkBuild:
    """The answer of `ithaca.build` for the layers of a network."""

    builds: Mapping[str, Build | NetworkBuild]
    """The build of each, by folder, or by layer of one array."""
    one_array: bool = False
    """Whether one array ran them all; what synthesis made of it is with the last."""

    @property
    def right(self) -> bool:
        """Whether everything that was run is as stated."""
        return all(each.right for each in self.builds.values())

    @property
    def document(self) -> dict[str, Any]:
        """The builds of all layers as a JSON document."""
        each = {
            name: own.document["builds" if isinstance(own, NetworkBuild) else "build"]
            for name, own in self.builds.items()
        }
        return {"schema": SCHEMA, "builds": each}

    def __repr__(self) -> str:
        return f"<NetworkBuild: {', '.join(self.builds)}>"


@public
def build(
    folder: Annotated[str | Path, Argument(help="Folder that ithaca export --to rtl wrote.")],
    *,
    stalls: Annotated[
        int | None,
        Option(
            "--stalls",
            metavar="N",
            help="Run it again, with stalls at every port drawn from the seed N, at least 1.",
        ),
    ] = None,
    vcd: Annotated[
        str | Path | None,
        Option("--vcd", help="Write a waveform (value change dump; short runs)."),
        WRITTEN_FILE,
    ] = None,
    memory: Annotated[
        Mapping[str, int] | Sequence[str] | None,
        Option(
            "--memory",
            help="The memory behind AXI4 masters: latency (cycles) and bandwidth (bytes per cycle; "
            "0: no limit). Default: the platform's.",
        ),
        REPEATED,
    ] = None,
    synthesize: Annotated[
        bool, Option("--synthesize", help="Synthesize it for UltraScale+, too, by Yosys.")
    ] = False,
    block_ram: Annotated[
        bool,
        Option("--block-ram", help="Synthesize it with every buffer in block RAM, as modelled."),
    ] = False,
    trust: Annotated[
        bool,
        Option(
            "--trust", help="Run the folder's files even if they differ from what Ithaca writes."
        ),
    ] = False,
    time_limit: TimeLimit = None,
) -> Build | NetworkBuild:
    """Simulate exported hardware by Verilator or Icarus Verilog, and synthesize it by Yosys; of a
    network that of every layer, one after the other.

    Every file is made again from the folder's ``hardware.json``, of a network from those of all
    layers before the first is run, and what is made is run. Raises
    `InputError` if the folder holds anything else (and ``trust`` is not asked for) or no hardware,
    a tool is missing or fails, or the hardware has no vectors, and `NothingFoundError` when
    ``time_limit`` is over before all is done; what runs then is ended.

    Examples
    --------
    >>> ithaca.build("rtl").right  # doctest: +SKIP
    True
    """
    place = Path(folder)
    recover(place)
    several = (place / TABLE).exists()
    if several and vcd is not None:
        raise InputError(f"--vcd does not go with a network's folder; allowed: one in {folder}")
    names = folders_of(place / TABLE) if several else [""]
    words = _memory_words(memory)
    stated = {
        name: {
            layer: _with_memory(own, words, place / name)
            for layer, own in _stated(place / name).items()
        }
        for name in names
    }
    seed = None if stalls is None else parse_integer("--stalls", stalls, least=1) % 2**31
    if vcd is not None:
        check_writable(vcd)
    run = partial(_simulated, seed=seed, vcd=None if vcd is None else Path(vcd), memory=words)
    builds: dict[str, Build | NetworkBuild] = {}
    with _as_generated(place, trust=trust) as (source, differs):
        began = perf_counter()
        for done, (name, layers) in enumerate(stated.items()):
            if len(stated) > 1:
                left = _time_left(perf_counter() - began, done, len(stated))
                _note(f"{done + 1} of {len(stated)}: {name}{left}")
            runs, resources = run(source / name, [*layers.values()]), None
            if synthesize or block_ram:
                _note("synthesizing by Yosys")
                resources = run_synthesis(source / name, block_ram=block_ram)
            others = tuple(f"{each}/" for each in names if each != name)
            own = tuple(line for line in differs if not line.startswith(others))
            each = {
                layer: Build(place / name, expected, runs[at], differs=own)
                for at, (layer, expected) in enumerate(layers.items())
            }
            *_, last = layers
            each[last] = replace(each[last], resources=resources)
            builds[name] = NetworkBuild(each, one_array=True) if len(each) > 1 else each[last]
    return NetworkBuild(builds) if several else builds[""]


def _time_left(seconds: float, done: int, all_: int) -> str:
    """The time that the folders which are left take, if each takes as long as one did so far;
    nothing before one is done."""
    return f", about {ceil(seconds / done * (all_ - done))} s left" if done else ""


@contextmanager
def _as_generated(place: Path, *, trust: bool) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """A folder with what Ithaca generates for hardware, which nobody else has written; or the
    hardware's own with how it differs from that, if it is trusted."""
    _note("comparing with what Ithaca generates")
    try:
        files = made_again(place)
        differs = differences(place, files)
    except InputError as error:
        if not trust:
            raise InputError(f"{error}, or --trust, to run what {place} holds") from error
        files, differs = {}, (str(error),)
    if differs and not trust:
        raise InputError(
            f"{in_words(differs)}; allowed in {place}: what was exported, or --trust, to run it"
        )
    if differs:
        yield place, differs
        return
    with tempfile.TemporaryDirectory(prefix="ithaca-") as room:
        write_folder(Path(room) / place.resolve().name, files)
        yield Path(room) / place.resolve().name, ()


def _stated(folder: Path) -> dict[str, HardwareDocument]:
    """The documents of hardware that can be run, by layer; one alone has no name."""
    if not folder.is_dir():
        raise InputError(
            f"{folder}: no such folder; allowed: one that ithaca export --to rtl wrote"
        )
    where = folder / "expected.json"
    if not ((folder / "bench.sv").is_file() or where.is_file()):
        raise InputError(
            f"{folder}: no exported hardware; allowed: what ithaca export --to rtl wrote"
        )
    document = validated(ExpectedDocument, parse_json(read_text(where, MAX_BYTES), where), where)
    layers = document.layers or ({} if document.rtl is None else {"": document.rtl})
    if not layers:
        raise InputError(f"{where}: rtl is missing; allowed: rtl, or layers")
    if not all(layer.vectors for layer in layers.values()):
        raise InputError(
            f"{folder}: the workload is too large to compute its result; allowed: a smaller one"
        )
    if not (folder / "vectors").is_dir():
        raise InputError(f"{folder / 'vectors'}: no such folder; allowed: what ithaca export wrote")
    return layers


def _memory_words(memory: Mapping[str, int] | Sequence[str] | None) -> dict[str, int]:
    """Latency and bandwidth as asked for."""
    words = parse_counts("--memory", memory, "latency=100,bandwidth=64")
    for name in words:
        parse_choice("--memory", name, ("latency", "bandwidth"))
    MemoryTiming(**words)
    return words


def _with_memory(
    stated: HardwareDocument, words: Mapping[str, int], folder: Path
) -> HardwareDocument:
    """The document of the hardware with the memory of a run; with another memory than stated the
    simulated cycles are not known."""
    if words and stated.memory is None:
        raise InputError(
            f"--memory does not go with {folder}, whose tensors are streams; allowed: what "
            "ithaca export --memory axi4 wrote"
        )
    if stated.memory is None or {**stated.memory, **words} == stated.memory:
        return stated
    return stated.model_copy(update={"memory": {**stated.memory, **words}, "simulated": None})


def _simulated(
    folder: Path,
    layers: Sequence[HardwareDocument],
    *,
    seed: int | None,
    vcd: Path | None,
    memory: Mapping[str, int],
) -> list[tuple[Run, ...]]:
    """The runs of each layer: without stalls, and with them if there is a seed."""
    _note("compiling the simulation")
    cycles = [int(layer.simulated or layer.cycle or 0) for layer in layers]
    work = sum(each * layer.macs for each, layer in zip(cycles, layers, strict=True))
    with compiled(folder, traced=vcd is not None, work=work, note=_note) as bench:
        every = f"{sum(cycles):,} cycles of {layers[0].macs:,} MAC units"
        _note(f"simulating {every} by {bench.simulator}")
        runs = [bench.run_layers(vcd=vcd, memory=memory)]
        if seed is not None:
            runs.append(bench.run_layers(stalls=seed, memory=memory))
    never = Run(bench.simulator, cycles=0, hangs=True, right=0, wrong=0)  # one before it hangs
    return [
        tuple(done[at] if at < len(done) else never for done in runs) for at in range(len(layers))
    ]


def _note(what: str) -> None:
    """Say what runs, where somebody waits for it."""
    if sys.stderr.isatty():
        tell(f"{what} …")
