"""Data flow one way: no layer imports a later one."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from benchmarks.house import LAYERS, imports, nodes, picture
from ithaca.files.plugin import CORE, plugins

ROOT = Path(__file__).parents[1]


def files(layer):
    """The modules of a layer: those of its folder, or its file; none of a deleted plug-in."""
    if layer.endswith(".py"):
        return [ROOT / layer]
    alone = ROOT / f"{layer}.py"
    return sorted((ROOT / layer).rglob("*.py")) or [alone] * alone.exists()


def registered(node):
    """The module in which a registry says that a thing is, which it imports when it is asked for:
    a string ``ithaca.module:attribute``. Of all else nothing."""
    value = node.value if isinstance(node, ast.Constant) else None
    place = re.fullmatch(r"(ithaca(?:\.\w+)+):\w+", value) if isinstance(value, str) else None
    return place[1] if place else ""


@cache
def imported(text):
    """Line and name of every module of the package that a source text imports, wherever in it."""
    places = ((node.lineno, registered(node)) for node in nodes(text) if registered(node))
    return [*imports(nodes(text)), *places]


def offences(layer, text):
    """Imports of later layers, and of what is no layer."""
    allowed = {*LAYERS[: LAYERS.index(layer) + 1], "__version__"}
    return [
        f"{line}: {module}"
        for line, module in imported(text)
        if module.split(".")[1] not in allowed
    ]


@pytest.mark.parametrize("layer", LAYERS)
def test_no_layer_imports_a_later_one(layer):
    found = [
        f"{path.relative_to(ROOT)}:{offence}"
        for path in files(layer)
        for offence in offences(layer, path.read_text())
    ]
    assert not found


def test_every_package_has_its_place():
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests"}
    assert packages == set(LAYERS) - {"cli"} | {"plugins"}


def test_plugins_keep_the_same_order():
    """Each has floors of the names of layers; it imports no later floor, layer or other plug-in."""
    upward = []
    for path in sorted((ROOT / "plugins").glob("*/**/*.py")):
        _, plugin, *rest = path.relative_to(ROOT).with_suffix("").parts
        if rest == ["__init__"]:
            continue
        assert rest[0] in LAYERS, path
        allowed = LAYERS[: LAYERS.index(rest[0]) + 1]
        for line, module in imported(path.read_text()):
            parts = module.split(".")[1:]
            if parts[0] == "plugins" and parts[1] == plugin:
                parts = parts[2:]
            if parts[0] not in (*allowed, "__version__"):
                upward.append(f"{path.relative_to(ROOT)}:{line}: {module}")
    assert not upward


def test_contributors_see_the_house_as_it_is():
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert "\n".join(f"    {line}" for line in picture().splitlines()) in guide


def test_places_that_contributors_look_for_are_there():
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \| (.+) \|$", guide, re.MULTILINE)[1:]
    assert len(rows) >= 20
    for what, where in rows:
        places = re.findall(r"`([\w*/.]+)`", where)
        assert places, what
        for place in places:
            if place == place.upper() or "NAME" in place:
                continue
            near = {Path(place), *(Path(each).parent / place for each in places if "/" in each)}
            near |= {Path(each) / place for each in places if each.endswith("/")}
            assert any([*ROOT.glob(str(path))] for path in near), f"{what}: {place}"


def test_an_import_of_a_later_layer_is_seen():
    text = "from ithaca.workloads import nest\ndef f():\n    import ithaca.exports.report.page\n    from ithaca import cli\n"
    assert offences("solver", text) == ["3: ithaca.exports.report.page", "4: ithaca.cli"]
    assert offences("solver", "from ithaca.refine.grid import x") == ["1: ithaca.refine.grid"]
    plugin = 'X = Plugin({"x": {"y": "ithaca.refine.grid:y"}})'
    assert offences("solver", plugin) == ["1: ithaca.refine.grid"]
    assert not offences("commands", text.replace("cli", "__version__"))


def called_for(layer, text):
    """Strings of a source text that name modules of later layers; calls that import the whole
    package by its name."""
    later = "|".join(LAYERS[LAYERS.index(layer) + 1 :])
    module = re.compile(rf"(ithaca\.)?({later})[.:][\w.:]+|ithaca\.({later})")
    whole = re.findall(r"(?:import_module|__import__)\(.ithaca.\)", text)
    return [value for _, value in spoken(text) if module.fullmatch(value)] + whole


@pytest.mark.parametrize("layer", LAYERS[: LAYERS.index("commands")])
def test_no_layer_names_a_later_one_in_a_string(layer):
    """The core's plug-in alone says where registries find what later layers do."""
    named = {
        path.relative_to(ROOT).as_posix(): names
        for path in files(layer)
        if (names := called_for(layer, path.read_text()))
    }
    assert not named


@pytest.mark.parametrize(
    ("layer", "call"),
    [
        ("files", 'import_module("ithaca.exports.charts")'),
        ("refine", '__import__("ithaca.commands")'),
        ("solver", 'find("refine.evolution.engine")'),
        ("studies", 'import_module("ithaca")'),
    ],
)
def test_the_name_of_a_later_layer_is_seen(layer, call):
    assert called_for(layer, f"x = {call}.f")
    assert not called_for("commands", 'x = import_module("ithaca.exports.charts")')


#: Folders of families; everything beside them in `formulations` is the contract, which knows none
#: but by its registry.
FAMILIES = sorted(path.parent.name for path in (ROOT / "formulations").glob("*/family.py"))

#: Layers that work with any family, and what they may not say.
GENERIC = ("solver", "refine", "plugins/peers/studies", "results/files.py", "results/schema.py")
OWN_WORDS = re.compile(r"(t1|t2|lanes|tiles|pack|simd)(\..*)?|bram18k|systolic")

#: Later layers. What is a family's own there is in a folder of its name, whose modules the registry
#: finds; exports for one tool are of a family.
LATER = ("studies", "results", "exports", "commands")
TOOLS = (
    "exports/autosa/",
    "exports/configuration.py",
    "exports/layers.py",
)


def names_family(path):
    """Imports of a family's modules."""
    own = (
        path.relative_to(ROOT).parts[1]
        if path.relative_to(ROOT).parts[0] == "formulations"
        else None
    )
    families = {f"ithaca.formulations.{name}" for name in FAMILIES if name != own}
    names_by_line = imported(path.read_text())
    return [
        f"{path.relative_to(ROOT)}:{line}: {m}"
        for line, m in names_by_line
        if ".".join(m.split(".")[:3]) in families
    ]


def test_engines_refinement_peers_and_the_codec_know_no_family():
    assert not [
        offence for layer in GENERIC for path in files(layer) for offence in names_family(path)
    ]


@cache
def spoken(text):
    """Line and value of the string literals of a source text, apart from its docstrings."""
    statements = {id(node.value) for node in nodes(text) if isinstance(node, ast.Expr)}
    strings = [node for node in nodes(text) if isinstance(node, ast.Constant)]
    return [
        (node.lineno, node.value)
        for node in strings
        if isinstance(node.value, str) and id(node) not in statements
    ]


def test_engines_refinement_peers_and_the_codec_name_no_quantity_of_a_family():
    found = [
        f"{path.relative_to(ROOT)}:{line}: {value}"
        for layer in GENERIC
        for path in files(layer)
        for line, value in spoken(path.read_text())
        if OWN_WORDS.fullmatch(value)
    ]
    assert not found
    assert [
        value
        for _, value in spoken('"""t1"""\nx = values["t1"] + f"{1}t2."')
        if OWN_WORDS.fullmatch(value)
    ] == [
        "t1",
        "t2.",
    ]


def test_no_family_knows_another_and_the_contract_none():
    found = [offence for path in files("formulations") for offence in names_family(path)]
    assert FAMILIES
    assert not found


def is_of_family(path):
    """Whether a file of a later layer belongs to a family."""
    place = path.relative_to(ROOT)
    return not {*FAMILIES}.isdisjoint(place.parent.parts) or place.as_posix().startswith(TOOLS)


def test_later_layers_name_no_family():
    naming = {
        path.relative_to(ROOT).as_posix()
        for layer in LATER
        for path in files(layer)
        if not is_of_family(path) and names_family(path)
    }
    assert not naming


def test_later_layers_ask_the_registry_by_no_name():
    """No string names a family, either, or a module of one."""
    named = re.compile(rf"(\w+\.)*({'|'.join(FAMILIES)})([.:]\w+)*")
    found = [
        f"{path.relative_to(ROOT)}:{line}: {value}"
        for layer in LATER
        for path in files(layer)
        if not is_of_family(path)
        for line, value in spoken(path.read_text())
        if named.fullmatch(value)
    ]
    assert not found
    assert named.fullmatch("ithaca.commands.systolic.points:Points")
    assert not named.fullmatch("systolic arrays")


def test_what_is_of_a_family_in_later_layers_is_found_by_the_registry_alone():
    own = re.compile(rf"ithaca\.({'|'.join(LATER)})(\.\w+)*\.({'|'.join(FAMILIES)})")
    found = [
        f"{path.relative_to(ROOT)}:{line}: {module}"
        for layer in LATER
        for path in files(layer)
        if not is_of_family(path)
        for line, module in imported(path.read_text())
        if own.match(module)
    ]
    assert not found


def module_name(path):
    """The name by which a file is imported."""
    place = path.relative_to(ROOT) if path.is_relative_to(ROOT) else Path(path.name)
    parts = ("ithaca", *place.with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def targets(text, modules):
    """The files that a source text imports, wherever in it: `from a import b` is of `a.b`, if that
    is a file."""
    found = set()
    for node in nodes(text):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            whole = (f"{node.module}.{alias.name}" for alias in node.names)
            found |= {name if name in modules else str(node.module) for name in whole}
        else:
            found.add(registered(node))
    return found & set(modules)


def circles(imports):
    """Files that import each other, directly or by others: strongly connected components of more
    than one file (Tarjan)."""
    order = {}
    low = {}
    open_ = []
    found = []

    def visit(name):
        order[name] = low[name] = len(order)
        open_.append(name)
        for other in imports[name]:
            if other not in order:
                visit(other)
            if other in open_:
                low[name] = min(low[name], low[other])
        if low[name] == order[name]:
            place = open_.index(name)
            found.append(sorted(open_[place:]))
            del open_[place:]

    for name in imports:
        if name not in order:
            visit(name)
    return [circle for circle in found if len(circle) > 1]


def test_no_files_import_each_other():
    """Imports for type checking and inside functions count, too."""
    paths = {module_name(path): path for part in (*LAYERS, "plugins") for path in files(part)}
    imports = {
        name: targets(path.read_text(), paths.keys()) - {name} for name, path in paths.items()
    }
    assert len(imports) > 400
    assert not circles(imports)


def test_a_circle_is_seen():
    text = "from ithaca.a import b\ndef f():\n    import ithaca.c\n    from ithaca.a.b import x\n"
    text += 'X = {"x": "ithaca.d:X", "y": "ithaca.a:", "z": "see ithaca.a:X"}'
    files = {"ithaca.a", "ithaca.a.b", "ithaca.c", "ithaca.d"}
    assert targets(text, files) == files - {"ithaca.a"}
    assert circles({"a": "b", "b": "cd", "c": "a", "d": "e", "e": "d", "f": "a"}) == [
        ["d", "e"],
        ["a", "b", "c"],
    ]


#: Lines that a file of the package may have: longer ones usually hold two concepts.
MOST_LINES = 450


def lengths(paths):
    """Lines of files, by path."""
    return {path.as_posix(): path.read_text().count("\n") for path in paths}


def test_no_file_is_long():
    package = [path for part in (*LAYERS, "plugins") for path in files(part)]
    assert len(package) > 400
    assert not {name: n for name, n in lengths(package).items() if n > MOST_LINES}


def test_a_long_file_is_seen(tmp_path):
    long = tmp_path / "long.py"
    long.write_text("x = 1\n" * (MOST_LINES + 1))
    assert lengths([long]) == {long.as_posix(): 451}


#: Words of the field that plug-ins are called by, too: the core says them of other things.
COMMON = {
    *("build", "custom", "flow", "instructions", "map", "match", "seed", "seeds", "simulate"),
    *("spatial", "tables"),
}

#: Words of the core that are no arrow: forms of files that it reads itself, domains of operators, the
#: timing of modules that are generated, and help that says what plug-ins read.
MEANT = {
    "files/templates.py": {"timeloop"},
    "files/timeloop_files.py": {"timeloop"},
    "files/timeloop_yaml.py": {"timeloop", "hierarchical"},
    "workloads/library.py": {"timeloop"},
    "workloads/problem_files.py": {"timeloop"},
    "workloads/networks/find.py": {"timeloop"},
    "formulations/machine.py": {"rtl"},
    "formulations/technology.py": {"rtl"},
    "formulations/systolic/options.py": {"rtl"},
    "formulations/systolic/logic.py": {"rtl"},
    "formulations/systolic/points.py": {"rtl"},
    "commands/systolic/points.py": {"rtl"},
    "commands/api/evaluating.py": {"timeloop", "hierarchy"},
    "commands/api/keywords.py": {"timeloop"},
    "commands/api/solving.py": {"timeloop"},
}


def called():
    """Words that plug-ins, their families, tools and commands are called by."""
    registries = ("families", "question kinds", "tools", "commands")
    names = {name for name in plugins() if name != CORE}
    for plugin in names.copy():
        for registry in registries:
            names |= plugins()[plugin].things.get(registry, {}).keys()
    more = {"hierarchy", "hierarchical", "hardware space", "shared-array", "multi-array", "verilog"}
    return (names | more | {"co-design", "co-designs", "hardware spaces"}) - COMMON


def said(path, words):
    """Words in a module's names and strings, but docstrings."""
    whole = nodes(path.read_text())
    notes = {id(n.value) for n in whole if isinstance(n, ast.Expr)}
    texts = [
        n.value
        for n in whole
        if isinstance(n, ast.Constant) and isinstance(n.value, str) and id(n) not in notes
    ]
    for n in whole:
        for field in ("id", "attr", "arg", "name"):
            if isinstance(text := getattr(n, field, None), str):
                texts.append(re.sub(r"_|(?<=[a-z])(?=[A-Z])", " ", text))
    text = "\n".join(texts).lower()
    return {word for word in words if re.search(rf"\b{re.escape(word)}\b", text)}


def test_the_core_names_no_plugin():
    words = called()
    assert words >= {"timeloop", "codesign", "rtl", "recurrence", "hierarchies", "peers"}
    every = {
        path.relative_to(ROOT).as_posix(): said(path, words)
        for layer in (*LAYERS, "core.py")
        for path in files(layer)
    }
    assert {name: found for name, found in every.items() if found} == MEANT
