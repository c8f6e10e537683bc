"""The published schemas of documents hold what commands write and what people write for them."""

import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from ithaca.commands.schemas import SCHEMAS, schema
from ithaca.files.timeloop_yaml import TAGS
from ithaca.files.yaml_documents import parse_yaml
from ithaca.formulations.families import FAMILIES
from ithaca.formulations.platform_files import load_platform
from ithaca.plugins.codesign.formulations.files import find_space
from ithaca.plugins.flow.formulations.graph import find_graph
from ithaca.plugins.hierarchies.formulations.architecture_files import read_architecture
from ithaca.plugins.hierarchies.formulations.constraint_files import read_constraints
from ithaca.plugins.recurrences.workloads.kind import find_recurrence
from ithaca.workloads.library import workload
from ithaca.workloads.networks.find import find_network
from ithaca.workloads.problem_files import read_problem
from tests.command_line import ithaca, succeed

ROOT = Path(__file__).parents[2]

#: Kinds of any family that people write.
OF_ANY = ("workload", "problem", "network", "platform", "space", "graph")

#: Kinds of files that people write.
READ = [*OF_ANY, *(kind for family in FAMILIES.values() for kind in family.inputs)]

PAGES = [ROOT / "docs" / f"{name}-files.md" for name in ("input", "hardware", "space")]

#: The pages on files that people write, one after the other.
PAGE = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)

#: Folders of the files that come with Ithaca.
LIBRARY = {
    "workload": "workloads/kernels",
    "network": "workloads/networks/data",
    "platform": "formulations/platforms",
    "architecture": "plugins/hierarchies/formulations/architectures",
    "space": "plugins/codesign/formulations/spaces",
    "graph": "plugins/flow/formulations/graphs",
    "recurrences": "plugins/recurrences/workloads/data",
}

#: Which kind an input is, by a key that it has.
KEYS = {
    "quantities": "space",
    "intervals": "graph",
    "problem": "problem",
    "mapspace_constraints": "constraints",
    "architecture": "architecture",
    "layers": "network",
    "resources": "platform",
    "extents": "workload",
    "values": "recurrences",
}


#: Files of the guide that are other tools'.
FOREIGN = {"folding.json", "config.yml"}


def complaints(kind, document):
    """Errors in a document by the schema of a kind."""
    found = Draft202012Validator(schema(kind)).iter_errors(document)
    return [f"{error.json_path}: {error.message}"[:300] for error in found]


def inputs(text):
    """Name, text and document of every input file on a page."""
    for name, block in re.findall(r'^```yaml title="(.+?)"\n(.*?)^```$', text, re.M | re.S):
        if name not in FOREIGN:
            yield name, block, parse_yaml(block, name, TAGS, 48)


def kind_of(document):
    return next(kind for key, kind in KEYS.items() if key in document)


@pytest.mark.parametrize("kind", [*dict.fromkeys((*READ, *SCHEMAS, "result", "mapping"))])
def test_it_is_a_schema(kind):
    Draft202012Validator.check_schema(schema(kind))


@pytest.mark.parametrize("kind", LIBRARY)
def test_files_that_come_with_ithaca_are_such(kind):
    files = sorted((ROOT / LIBRARY[kind]).glob("*.yaml"))
    assert files
    for file in files:
        assert complaints(kind, parse_yaml(file.read_text(), file, TAGS, 48)) == [], file.name


def test_files_of_the_guide_are_such():
    pages = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md"]
    found = [each for page in pages for each in inputs(page.read_text(encoding="utf-8"))]
    assert {kind_of(document) for *_, document in found} == {*READ}
    for name, _, document in found:
        assert complaints(kind_of(document), document) == [], name


def properties(part):
    """Every key that a schema names."""
    if isinstance(part, dict):
        for name, inner in part.items():
            if name == "properties":
                yield from inner
                inner = list(inner.values())
            yield from properties(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from properties(inner)


@pytest.mark.parametrize("kind", READ)
def test_the_page_of_input_files_shows_every_key(kind, tmp_path):
    found = schema(kind)
    if kind == "network":  # not those of results
        names = {ref["$ref"].rpartition("/")[2] for ref in _operators(found)}
        defined = {name: part for name, part in found["$defs"].items() if name in names}
        found = {**found["else"], "$defs": defined}
    own = [(name, text) for name, text, d in inputs(PAGE) if kind_of(d) == kind]
    assert own
    shown = "\n".join(text for _, text in own)
    around = PAGE.split(own[0][1])[0].rpartition("\n## ")[2]
    missing = [key for key in {*properties(found)} if not re.search(rf"(?<!\w){key}\b", shown)]
    assert [key for key in missing if f"`{key}`" not in around and key != "!"] == []
    for name, text in own:
        (tmp_path / name).write_text(text)
        load(kind, tmp_path / name, tmp_path)


def _operators(found):
    return found["else"]["properties"]["layers"]["items"]["oneOf"]


def load(kind, path, folder):
    """Read an input file as commands do."""
    if kind == "constraints":
        texts = {name: text for name, text, _ in inputs(PAGE)}
        for name in ("problem.yaml", "subtree.yaml"):
            (folder / name).write_text(texts[name])
        hierarchy = read_architecture(folder / "subtree.yaml")
        return read_constraints(path, hierarchy, read_problem(folder / "problem.yaml"))
    readers = {
        "workload": workload,
        "recurrences": lambda source: find_recurrence(source, {}),
        "problem": read_problem,
        "network": find_network,
        "platform": load_platform,
        "architecture": read_architecture,
        "space": find_space,
        "graph": find_graph,
    }
    return readers[kind](str(path))


#: Small commands, and the kind of what they write.
COMMANDS = {
    "solve mm {array} -o result.json": "result",
    "solve mm {array} --limit dsp=4 --json": "result",
    "solve mm {array} --for autosa --edition exact --json": "result",
    "solve conv2d -s o=4,r=4,c=4,i=4,p=1,q=1 --divisors-only --dataflow o --json": "result",
    "refine result.json --time-limit 1 --json": "result",
    "solve mm {mapped} --json": "mapping",
    "map --problem mm {mapped} --limit energy=10 -o mapped.json": "mapping",
    "map --problems layers.csv --arch dmazerunner-256 --edition dmazerunner --divisors-only --json": "layers",
    "network layers.yaml {limit} --fuse --objective off_chip_words -o n.json": "network",
    "network layers.yaml {limit} --mode shared-dataflow --json": "network",
    "network layers.yaml {limit} --mode multi-array --arrays 2 --json": "network",
    "network layers.yaml --arch simple --divisors-only --json": "network",
    "network layers.yaml --arch simple --divisors-only --objective energy --fuse -o h.json": "network",
    "whatif mm {array} --vary dsp=4,20 --marginal 10 --json": "whatif",
    "whatif mm {mapped} --vary Buffer.words=64,1000 -o study.json": "whatif",
    "whatif layers.yaml {limit} --vary dtype=fp32,int8 --json": "network-whatif",
    "pareto layers.yaml {limit} --objectives latency,dsp --json": "network-pareto",
    "pareto mm {array} --objectives latency,dsp -o front.json": "pareto",
    "pareto mm {mapped} --objectives latency,energy --json": "pareto",
    "codesign space.yaml --workload mm.yaml -o chosen.json": "codesign",
    "codesign space.yaml --workload mm.yaml --objectives energy,latency --json": "codesign",
    "codesign space.yaml --workload mm.yaml --time-limit 0.000000001 --json": "codesign",
    "codesign space.yaml --workload mm.yaml --vary area=15,20 --json": "codesign-whatif",
    "codesign arrays.yaml --workload layers.yaml --objective latency --time-limit 1 --json": "network",
    "match mm -s i=4,j=4,k=4 --json": "match",
    "simulate result.json --check-values --json": "simulation",
    "evaluate result.json --json": "points",
    "explain result.json --quick --json": "explanation",
    "explain front.json --json": "explanation",
    "explain study.json --json": "explanation",
    "explain n.json --json": "explanation",
    "explain chosen.json --quick --json": "explanation",
    "list designs mm --json": "designs",
}

WORDS = {
    "array": "-s i=4,j=4,k=4 --dataflow i,j --divisors-only",
    "mapped": "-s i=4,j=4,k=4 --arch simple --divisors-only",
    "limit": "--limit dsp=40 --limit bram18k=400 --divisors-only --dataflow i,j",
}

LAYERS = """\
name: two
layers:
  - {op: kernel, name: one, kernel: mm, sizes: {i: 4, j: 4, k: 4}}
  - {op: kernel, name: two, kernel: mm, sizes: {i: 4, j: 2, k: 4}, follows: true}
"""


ROWS = """kind,extents,stride,tensors
conv,"{""N"": 1, ""M"": 4, ""C"": 4, ""Ox"": 4, ""Oy"": 4, ""Fx"": 1, ""Fy"": 1}",1,"{""I"": [1, 4, 4, 4], ""W"": [4, 4, 1, 1], ""O"": [1, 4, 4, 4]}"
"""


def test_what_commands_write_is_what_the_schemas_say(tmp_path):
    for name, text, _ in inputs(PAGE):
        (tmp_path / name).write_text(text)
    (tmp_path / "layers.yaml").write_text(LAYERS)
    (tmp_path / "layers.csv").write_text(ROWS)
    small = "name: mm\nstatement: C[i,j] += A[i,k] * B[k,j]\nextents: {i: 2, j: 2, k: 2}\n"
    (tmp_path / "mm.yaml").write_text(small)
    assert {*COMMANDS.values()} == {*SCHEMAS} - {*READ} | {"result", "mapping", "network"}
    for line, kind in COMMANDS.items():
        words = line.format(**WORDS).split()
        done = ithaca(*words, cwd=tmp_path)
        assert done.returncode in (0, 1), (line, done.stderr)
        text = done.stdout if "--json" in words else (tmp_path / words[-1]).read_text()
        document = json.loads(text)
        assert complaints(kind, document) == [], line
        document["schema"] = "other"
        assert complaints(kind, document), line


@pytest.mark.ci
@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("network", {"surprise": 1}),
        ("network", {"layers": [{"op": "conv", "name": "a", "kernel": 1}]}),
        ("network", {"study": "network"}),
        ("platform", {"surprise": 1}),
        ("space", {"surprise": 1}),
        ("space", {"family": "systolic"}),
        ("architecture", {"tensorized": {"banks": 0}}),
        ("constraints", {"mapspace": [{"type": "spatial", "min": 1}]}),
        ("workload", {"extents": {"i": "four"}}),
        ("problem", {"problem": {}}),
    ],
)
def test_what_is_no_such_file_is_refused(kind, change):
    known = (document for *_, document in inputs(PAGE) if kind_of(document) == kind)
    document = next(known)
    assert complaints(kind, document) == []
    assert complaints(kind, document | change)


def test_the_command_prints_it():
    assert json.loads(succeed("list", "schema").stdout)["title"] == "ResultDocument"
    found = json.loads(succeed("list", "schema", "pareto").stdout)
    assert found["properties"]["study"]["const"] == "pareto"
    line = ithaca("list", "schema", "x").stderr
    assert line.startswith(
        "ithaca: document is 'x'; allowed: result, custom, mapping, architecture"
    )
