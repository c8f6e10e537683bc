"""Output of commands, byte by byte as it was recorded: a change that is to change nothing changes
nothing.

``UPDATE_OUTPUT=1 pytest -m slow tests/test_recorded_output.py`` records anew; the difference
belongs in the commit's message. Times, counts of what a search looked at and traces are left out:
they depend on the machine, or on how an engine searches.
"""

import gzip
import hashlib
import json
import os
import re
import shlex
import sys
from pathlib import Path

import pytest

from ithaca.commands import display
from ithaca.commands.display import PrintedTable as PrintedTable
from tests.command_line import ithaca
from tests.test_narrow_terminals import fits

DATA = Path(__file__).parent / "data" / "recorded_output.json.gz"

#: What the commands read.
FILES = {
    "2.yaml": (
        "name: two\nlayers:\n"
        "- {op: kernel, name: l0, kernel: conv2d, sizes: {o: 2, r: 2, c: 2, i: 8, p: 2, q: 1, s: 2}}\n"
        "- {op: kernel, name: l1, kernel: conv2d, sizes: {o: 6, r: 3, c: 4, i: 2, p: 2, q: 1, s: 1}}\n"
    ),
}

#: Run one after the other in one folder.
COMMANDS = """\
--help
solve --help
solve mm -s i=64,j=64,k=64 --limit dsp=400 -o mm.json
solve mm -s i=64,j=64,k=64 --limit dsp=400 --json
solve mm -s i=16,j=16,k=16 --dataflow i,j --method cpsat --json
solve mm -s i=16,j=16,k=16 --dataflow k --edition odyssey --divisors-only
solve mm -s i=8,j=8,k=8 --limit dsp=2 --dtype fp32 -o none.json
solve conv2d -s o=16,r=8,c=8,i=8,s=2 --dtype int8 --platform zcu102 --dataflow o,r
solve 'C[i,j] += A[i,k] * B[k,j]' -s i=32,j=32,k=32 --objective energy
solve mm -s i=32,j=32,k=32 --for autosa -o autosa.json
solve mm -s i=0
solve mm -s x=4
solve mm --platform nowhere
solve mmm
map --arch simple --problem mm -s i=4,j=4,k=4 -o mapped.json
map --arch simple --problem mm -s i=4,j=4,k=4 --json
map --arch eyeriss --problem conv2d -s o=4,i=4,p=3,q=3,r=4,c=4 --divisors-only --objective edp
map --arch dmazerunner-256 --edition dmazerunner --problem conv2d -s o=4,i=4,p=3,q=3,r=4,c=4 --divisors-only
map --arch simple --problem mm -s i=4,j=4,k=4 --bypass free --objective energy
map --arch nowhere --problem mm
network vgg16 --layers fc8 --dataflow i,j -o vgg16.json
network 2.yaml --dtype fp16 --dataflow r,c --limit dsp=72,bram18k=40 --json
network 2.yaml --dtype fp16 --dataflow r,c --mode shared-array --limit dsp=72,bram18k=40 -o shared.json
network 2.yaml --dtype fp16 --dataflow r,c --arrays 2 --mode multi-array --minimise slowest --limit dsp=72,bram18k=20 -o m.json
network 2.yaml --dtype fp16 --dataflow r,c --mode multi-array --arrays 2 --minimise slowest --limit bram18k=3
network 2.yaml --arch simple --divisors-only
network nowhere
match conv2d -s o=512,r=56,c=56,i=512
match mm --intrinsic gemm -s i=4,j=4,k=4 --json
whatif mm -s i=64,j=64,k=64 --dataflow i,j --vary dsp=100,200,400
whatif mm -s i=64,j=64,k=64 --dataflow i,j --vary dsp=100,200 --json
whatif mm -s i=64,j=64,k=64 --dataflow i,j --marginal 5
pareto mm -s i=32,j=32,k=32 --objectives latency,dsp --limit dsp=40
pareto mm -s i=32,j=32,k=32 --objectives latency,dsp --limit dsp=40 --json
grid mm.json --around 4 -o grid.nc
evaluate mm.json
evaluate mapped.json --json
evaluate mm --points mm.json --table points.csv
simulate mm.json
simulate mm.json --json
verify mm.json
verify mapped.json
verify none.json
verify shared.json
explain mm.json --quick
explain mapped.json
explain none.json
explain vgg16.json
explain vgg16.json --layer fc8 --quick --json
explain m.json
report mm.json -o mm.html --quick
report mapped.json -o mapped.html --quick
report vgg16.json -o vgg16.html
report m.json -o m.html
solve mm -s i=16,j=16,k=16 -o missing/out.json
solve mm -s i=16,j=16,k=16 --limit area=-1
solve mm -s i=16,j=16,k=16 --objective latencyy
verify 2.yaml
export mm.json --to autosa -o mm-autosa
export mm.json --to scalesim -o mm-scalesim
export mapped.json --to timeloop -o mapped-timeloop
export vgg16.json --to autosa -o vgg16-autosa
export none.json --to autosa -o none-autosa
seed mm.json --for optuna -o seeds.json
seed mm.json --for csv --count 20 -o seeds.csv
refine mm.json --samples 1000 -o refined.json
codesign hasco-gemm --workload mm -s i=1024,j=1024,k=1024 -o codesign.json
verify codesign.json
explain codesign.json
codesign nowhere --workload mm
list workloads
list networks
list platforms
list architectures
list spaces
list designs mm
list schema result
"""

#: What depends on the machine, or on how an engine came to its answer.
LEFT_OUT = {"seconds", "nodes", "trace", "boxes", "counts", "nodes_per_second"}
TIMES = re.compile(r"\d[\d,.]*(?= (m?s|µs|seconds?|minutes?|nodes?|boxes|evaluations)\b)")


def _normal(value):
    """A document without what is left out."""
    if isinstance(value, dict):
        return {name: _normal(each) for name, each in value.items() if name not in LEFT_OUT}
    return [_normal(each) for each in value] if isinstance(value, list) else value


def _text(text, folder):
    """A text without what is left out; documents are recorded as such."""
    text = text.replace(str(folder), "FOLDER")
    try:
        document = json.loads(text)
    except ValueError:
        bare = re.sub(r" *(│|┃|\|) *", r"\1", text)
        return TIMES.sub("#", re.sub(r"\d+\.\d\d│$", "#│", bare, flags=re.MULTILINE))
    return json.dumps(_normal(document), indent=1, ensure_ascii=False)


def _written(folder):
    return {
        str(path.relative_to(folder)): path for path in sorted(folder.rglob("*")) if path.is_file()
    }


def _content(path, folder):
    """The compared content of a file: of pages the words, as charts show times; of netCDF nothing,
    as its bytes hold times."""
    if path.suffix == ".nc":
        return "netCDF"
    text = path.read_text()
    if path.suffix == ".html":
        words = re.sub(r"<(svg|style|script).*?</\1>|<[^>]*>", "\n", text, flags=re.DOTALL)
        text = re.sub(r"^\d+\.\d{2,3}$", "#", "\n".join(words.split("\n")), flags=re.MULTILINE)
    text = _text(text, folder)
    return text if len(text) < 100_000 else hashlib.sha256(text.encode()).hexdigest()


def record(folder):
    """Record what every command prints and writes."""
    for name, text in FILES.items():
        (folder / name).write_text(text)
    outputs = {}
    for line in COMMANDS.splitlines():
        before = {name: path.stat().st_mtime_ns for name, path in _written(folder).items()}
        done = ithaca(*shlex.split(line), cwd=folder)
        after = {n: p for n, p in _written(folder).items() if before.get(n) != p.stat().st_mtime_ns}
        outputs[line] = {
            "status": done.returncode,
            "output": _text(done.stdout, folder),
            "errors": _text(done.stderr, folder),
            "files": {name: _content(path, folder) for name, path in after.items()},
        }
    return outputs


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Output of every command, printed and written, and what is printed through `rich` for any
    width."""
    printed = []
    plain = display._Output.print

    def heard(console, *texts, **options):
        printed.extend((" ".join(sys.argv[1:]), text) for text in texts)
        plain(console, *texts, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(display._Output, "print", heard)
        return record(tmp_path_factory.mktemp("recorded")), printed


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_no_width_cuts_a_figure(recorded, width):
    tables = 0
    for command, text in recorded[1]:
        fits(text, width, command)
        tables += isinstance(text, PrintedTable)
    assert tables > 30


def test_commands_print_and_write_what_they_did(
    recorded,
):
    outputs = recorded[0]
    if os.environ.get("UPDATE_OUTPUT"):
        DATA.write_bytes(gzip.compress(json.dumps(outputs, ensure_ascii=False).encode(), mtime=0))
    before = json.loads(gzip.decompress(DATA.read_bytes()))
    assert list(before) == list(outputs)
    for line, output in outputs.items():
        assert output == before[line], line
