"""Mutants of files of every kind: each is read, or refused in one line, in bounded time."""

import ast
import json
import os
import random
import resource
import signal
import socket
import sys
from contextlib import chdir, contextmanager
from copy import deepcopy
from functools import reduce
from operator import getitem
from pathlib import Path
from threading import Thread

import pytest

import ithaca
from ithaca.files import messages, reading
from ithaca.files.errors import InputError
from ithaca.files.messages import MAX_LINE
from ithaca.plugins.hierarchies.formulations.architecture_files import read_architecture
from tests import file_kinds, mutants

#: Mutants in CI of every kind, 1,290 in all.
COUNT = 30

#: CPU seconds after which a reader counts as endless, of any file and for each KiB more: the slowest
#: takes a tenth on any machine.
ENDLESS, ENDLESS_PER_KIB = 6, 1

#: Bytes of memory that a reader may take, of any file and for each KiB more.
MEMORY, MEMORY_PER_KIB = 512 << 20, 4 << 20

KINDS = sorted(file_kinds.kinds())


class EndlessError(BaseException):
    """A reader did not come to an end."""


def _alarm(number, frame):
    raise EndlessError


@contextmanager
def bounded(size):
    """Bounds of CPU seconds and of memory for whoever reads so many bytes."""
    seconds = ENDLESS + ENDLESS_PER_KIB * size / 1024
    memory = MEMORY + MEMORY_PER_KIB * size // 1024
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    before = signal.signal(signal.SIGVTALRM, _alarm)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    resource.setrlimit(resource.RLIMIT_AS, (taken + memory, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def outcome(kind, path):
    """The line that refuses a file; None if it is read."""
    try:
        with bounded(path.stat().st_size):
            kind.read(path)
    except InputError as error:
        return str(error)
    return None


def check(kind, folder, seed, count):
    """Read mutants of a kind."""
    draw = random.Random(f"{kind.name} {seed}")
    for place in range(count):
        ending, content = mutants.drawn(kind, draw)
        path = folder / f"mutant{ending}"
        path.write_bytes(content)
        try:
            line = outcome(kind, path)
        except (Exception, EndlessError) as error:
            kept = folder / f"{kind.name}{place}{ending}"
            kept.write_bytes(content)
            raise AssertionError(f"{kept} ends in {error!r}") from error
        assert line is None or (line.isprintable() and len(line) <= MAX_LINE + 10), line


@pytest.mark.ci(whole=True)
@pytest.mark.parametrize("name", KINDS)
def test_what_mutants_are_made_of_is_read(name, tmp_path):
    kind = file_kinds.kinds()[name]
    for place, content in enumerate(kind.contents):
        path = tmp_path / f"seed{place}{kind.ending}"
        path.write_bytes(content)
        assert outcome(kind, path) is None


@pytest.mark.ci(whole=True)
@pytest.mark.parametrize("name", KINDS)
def test_a_mutant_is_read_or_refused_in_one_line(name, tmp_path):
    check(file_kinds.kinds()[name], tmp_path, 1, COUNT)


@pytest.mark.parametrize("name", KINDS)
def test_other_mutants_are_read_or_refused_in_one_line(name, tmp_path):
    check(file_kinds.kinds()[name], tmp_path, random.SystemRandom().randrange(10**9), 60 * COUNT)


# -- no reader is forgotten ----------------------------------------------------------------

#: Where files of others are opened; each function that calls one of these is a reader.
OPENERS = {
    "ithaca.files.reading": ("read_text", "read_bytes"),
    "ithaca.files.timeloop_files": ("load_timeloop",),
    "ithaca.files.documents": ("find_document", "load_document"),
    "ithaca.files.netcdf": ("check_contents",),
}

#: Readers that have no kind, and why.
WITHOUT_KIND = {
    "plugins/hierarchies/formulations/entry_lines.py:_document": "files that were read, for lines",
    "plugins/calibration/commands/calibrating.py:_measured": "a table of points, by their reader",
    "workloads/networks/find.py:is_network": "files are told apart, and read by other functions",
    "plugins/rtl/exports/again.py:differences": "bytes are compared, and mean nothing",
}

ROOT = Path(__file__).parents[1]


def readers():
    """The functions of the package that open files of others: module and name."""
    every = set()
    for path in ROOT.rglob("*.py"):
        module = path.relative_to(ROOT)
        if module.parts[0] in ("benchmarks", "docs", "files", "tests") or ".typing" in module.parts:
            continue
        text = path.read_text(encoding="utf-8")
        if not any(name in text for names in OPENERS.values() for name in names):
            continue
        tree = ast.parse(text)
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        names = {
            each.asname or each.name
            for node in imports
            for each in node.names
            if each.name in OPENERS.get(node.module or "", ())
        }
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef):
                used = (node.id for node in ast.walk(function) if isinstance(node, ast.Name))
                if names & {*used}:
                    every.add(f"{module}:{function.name}")
    return every


def called(kind, folder):
    """The functions of the package that are called while a kind's files are read."""
    names = set()

    def count(frame, event, argument):
        if event == "call":
            names.add((frame.f_code.co_filename, frame.f_code.co_name))

    for place, content in enumerate(kind.contents[:2]):
        path = folder / f"seed{place}{kind.ending}"
        path.write_bytes(content)
        sys.setprofile(count)
        try:
            kind.read(path)
        finally:
            sys.setprofile(None)
    package = Path(ithaca.__file__).resolve().parent
    places = ((Path(file).resolve(), name) for file, name in names if file.endswith(".py"))
    return {f"{p.relative_to(package)}:{n}" for p, n in places if p.is_relative_to(package)}


@pytest.mark.ci(whole=True)
def test_every_reader_has_a_kind(tmp_path):
    reached = set(WITHOUT_KIND)
    for kind in file_kinds.kinds().values():
        own = tmp_path / kind.name
        own.mkdir()
        reached |= called(kind, own)
    every = readers()
    assert len(every) > 20
    assert every - reached == set()
    assert set(WITHOUT_KIND) <= every


@pytest.mark.parametrize(
    ("kind", "place"),
    [
        ("architecture", ("architecture", "nodes", 1, "attributes")),
        ("problem", ("problem", "instance")),
        ("space", ()),
        ("answer", ()),
        ("graph", ()),
    ],
)
def test_few_of_many_unknown_keys_are_compared_with_known_ones(kind, place, tmp_path, monkeypatch):
    compared = []
    near = messages.get_close_matches
    monkeypatch.setattr(
        messages,
        "get_close_matches",
        lambda word, names: compared.append(word) or near(word, names),
    )
    own = file_kinds.kinds()[kind]
    document = deepcopy(mutants.document(own.seeds[0], own.ending))
    reduce(getitem, place, document).update({f"unknown{n}": n for n in range(3000)})
    path = tmp_path / "file.json"
    path.write_text(json.dumps(document))
    outcome(own, path)
    assert 0 < len(compared) < 2 * messages.MAX_HINTED


def test_what_is_no_file_is_refused_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "_BEGIN", 0.01)
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as server, chdir(tmp_path):
        server.bind("socket")
        for name, what in (
            ("pipe", "a pipe with nothing to read"),
            ("socket", "a socket"),
            (".", "a directory"),
            ("/dev/zero", "a device"),
            ("none", "no such file"),
            ("a\0b", "no path"),
        ):
            with pytest.raises(InputError, match=what):
                reading.read_bytes(Path(name), 1000)


def test_a_pipe_is_read_until_its_writer_ends(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = Thread(target=(tmp_path / "pipe").write_bytes, args=(b"x" * 200_000,))
    writer.start()
    assert reading.read_bytes(tmp_path / "pipe", 10**6) == b"x" * 200_000
    writer.join()


def test_an_endless_pipe_is_too_large():
    here, there = os.pipe()
    writer = Thread(target=os.write, args=(there, b"x" * 60_000))
    writer.start()
    with pytest.raises(InputError, match="is too large"):
        reading.read_bytes(Path(f"/dev/fd/{here}"), 1000)
    for end in (here, there):
        os.close(end)
    writer.join()


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"figures": {"RF.mesh_x": "0"}}, "'RF.mesh_x' is 0; allowed: a positive integer"),
        (
            {"figures": {"RF.words": "rf_words/(columns - 4)"}},
            "divides by 'columns - 4', which may be 0",
        ),
        ({"limits": {"1/(money - 32)": 5}}, "divides by 'money - 32', which may be 0;"),
    ],
)
def test_a_zero_divisor_in_a_space_is_refused(change, line, tmp_path):
    document = deepcopy(mutants.document(file_kinds.kinds()["space"].seeds[0], ".yaml"))
    document |= change
    path = tmp_path / "space.json"
    path.write_text(json.dumps(document))
    with pytest.raises(InputError, match=line):
        ithaca.codesign(path, ["mm"], sizes="i=4,j=4,k=4")


@pytest.mark.parametrize(
    ("entries", "line"),
    [
        ("100/none", "'100/none' divides by zero"),
        ("ceil(100/none)", "divides by zero"),
        ("100*none/none", "'100.none/none' divides by zero"),
        ("64 + 0/none", "'64 . 0/none' divides by zero"),
        ("100*" * 40 + "1e90", "allowed"),
    ],
)
def test_attributes_of_architectures_are_numbers(entries, line, tmp_path):
    node = {"!": "Component", "name": "buffer", "class": "SRAM", "attributes": {"entries": entries}}
    chain = {f"a{n}": f"a{n + 1} + b{n + 1} + b{n + 1}*a{n + 1}" for n in range(15)}
    chain |= {f"b{n}": f"a{n + 1} + b{n + 1}" for n in range(15)}
    document = {
        "variables": {"none": 0, **chain, "a15": 1, "b15": 0},
        "architecture": {
            "nodes": [
                {
                    "!": "Component",
                    "name": "DRAM",
                    "class": "DRAM",
                    "attributes": {"width": "16 + 0*a0"},
                },
                node,
                {"!": "Component", "name": "mac", "class": "intmac"},
            ]
        },
    }
    path = tmp_path / "arch.json"
    path.write_text(json.dumps(document))
    with pytest.raises(InputError, match=line):
        read_architecture(path)
