"""Docstrings begin with what they document, public functions say what several parameters are, and
names say what they hold."""

import ast
import re

import pytest

from tests.test_layers import LAYERS, ROOT, files, module_name, nodes

#: Folders and files whose docstrings are read beside those of the layers.
#: The package.
PARTS = (*LAYERS, "core", "plugins")

OTHERS = ("__init__.py", "__main__.py", "benchmarks", "docs/hooks", "tests")

#: Pronouns and prepositions that name nothing, with which no docstring begins.
NAMELESS = "what|that|those|it|of|none|this|these|they|them|the same"

#: Further words with which those of attributes alone may begin: there the class is the noun.
FRAGMENTS = "its|their|which|where|when|how|why|as|so|also|and|but|or|not"

#: Fields of statements that hold statements.
BODIES = ("body", "handlers", "orelse", "finalbody", "cases")

#: Nodes of a source that may begin with a docstring.
KINDS = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef

#: Participles that do not say what a variable holds, or what a function returns.
PARTICIPLES = frozenset(("asked", "found", "given", "posed", "said", "shown", "told", "written"))


def functions(path):
    """The public functions of a file, and the public methods of its public classes."""

    def within(body, place):
        for node in body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
                name = f"{place}{node.name}"
                if isinstance(node, ast.FunctionDef):
                    yield name, node
                else:
                    yield from within(node.body, f"{name}.")

    (whole, *_) = nodes(path.read_text())
    yield from within(whole.body, "")


def parameters(function):
    """The names of a function's parameters, without that of its object."""
    own = function.args
    named = [*own.posonlyargs, *own.args, *own.kwonlyargs, own.vararg, own.kwarg]
    return [each.arg for each in named if each is not None and each.arg not in ("self", "cls")]


def has_options(function):
    """Whether its parameters are options, of which `public` and typer say what their help says."""
    marks = {ast.unparse(mark).partition("(")[0] for mark in function.decorator_list}
    kinds = {ast.unparse(each.annotation or each) for each in function.args.kwonlyargs}
    return bool(marks & {"public", "calls"} or "AsJson" in kinds)


def documents(function):
    """Whether a docstring has a section about parameters."""
    return "\nParameters\n----------\n" in (ast.get_docstring(function) or "")


def class_methods(path):
    """The classes of a file, each with its bases, and whether its methods document parameters."""
    module, places = module_name(path), dict[str, str]()
    for node in nodes(path.read_text()):
        if isinstance(node, ast.ImportFrom):
            places |= {
                each.asname or each.name: f"{node.module}.{each.name}" for each in node.names
            }
    for node in nodes(path.read_text()):
        if isinstance(node, ast.ClassDef):
            bases = [ast.unparse(base).partition("[")[0] for base in node.bases]
            methods = [each for each in node.body if isinstance(each, ast.FunctionDef)]
            yield (
                f"{module}.{node.name}",
                (
                    [places.get(base, f"{module}.{base}") for base in bases],
                    {method.name: documents(method) for method in methods},
                ),
            )


def undocumented(paths):
    """Functions of three parameters or more whose docstring has no section about these; methods
    without docstring have that of what they override in a class that theirs inherits from."""
    paths = list(paths)
    classes = dict(each for path in paths for each in class_methods(path))

    def inherits(place, method):
        bases, methods = classes.get(place, ([], {}))
        return methods.get(method, False) or any(inherits(base, method) for base in bases)

    return [
        f"{path.name}: {name}"
        for path in paths
        for name, function in functions(path)
        if len(parameters(function)) >= 3 and not has_options(function) and not documents(function)
        if ast.get_docstring(function) is not None
        or not inherits(f"{module_name(path)}.{name.rpartition('.')[0]}", function.name)
    ]


def test_public_functions_say_what_their_parameters_are():
    assert not undocumented(path for part in PARTS for path in files(part))


def test_a_function_that_does_not_say_it_is_seen(tmp_path):
    section = '"""F.\n\n    Parameters\n    ----------\n    a : int\n        A.\n    """'
    text = f"def f(a, b, c):\n    {section}\n\n\ndef g(a, *b, **c):\n    'G.'\n\n\ndef _h(a, b, c): ...\n"
    text += f"class B(Generic[T]):\n    def f(self, a, b, c):\n        {section}\n\n\n"
    text += "class C(B):\n    def f(self, a, b, c): ...\n    def k(self, a, b, *, c): ...\n"
    text += "class D:\n    def f(self, a, b, c): ...\n"
    text += "@public\ndef m(a, b, c):\n    'M.'\n\n\ndef n(*, a, b, as_json: AsJson):\n    'N.'\n"
    file = tmp_path / "some.py"
    file.write_text(text)
    assert undocumented([file]) == ["some.py: g", "some.py: C.k", "some.py: D.f"]


def docstrings(whole):
    """Line and words of every docstring, and whether it is of an attribute."""
    body = [each for name in BODIES for each in getattr(whole, name, ())]
    for before, each in zip([None, *body], body, strict=False):
        attribute = isinstance(before, ast.Assign | ast.AnnAssign)
        first = before is None and isinstance(whole, KINDS)
        value = each.value if isinstance(each, ast.Expr) and (first or attribute) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield each.lineno, " ".join(value.value.split()), attribute
        yield from docstrings(each)


def riddles(whole):
    """The docstrings that begin with a word that names nothing."""
    attributes, others = (
        re.compile(rf"({words})(?![\w'-])", re.IGNORECASE)
        for words in (NAMELESS, f"{NAMELESS}|{FRAGMENTS}")
    )
    return [
        f"{line}: {words}"
        for line, words, attribute in docstrings(whole)
        if (attributes if attribute else others).match(words)
    ]


def participles(text):
    """The variables, parameters and functions whose name is a participle alone."""
    names = []
    for node in nodes(text):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append((node.lineno, node.id))
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.append((node.lineno, node.attr))
        elif isinstance(node, ast.arg):
            names.append((node.lineno, node.arg))
        elif isinstance(node, ast.FunctionDef):
            names.append((node.lineno, node.name))
    return [f"{line}: {name}" for line, name in names if name.strip("_") in PARTICIPLES]


@pytest.mark.parametrize("place", [*PARTS, *OTHERS])
def test_docstrings_begin_with_what_they_document(place):
    paths = files(place)
    assert paths
    assert not [
        f"{path.relative_to(ROOT)}:{offence}"
        for path in paths
        for text in (path.read_text(encoding="utf-8"),)
        for offence in riddles(nodes(text)[0] if place in PARTS else ast.parse(text))
    ]


@pytest.mark.parametrize("layer", PARTS)
def test_names_say_what_they_hold(layer):
    assert not [
        f"{path.relative_to(ROOT)}:{offence}"
        for path in files(layer)
        for offence in participles(path.read_text(encoding="utf-8"))
    ]


def test_riddles_and_participles_are_seen():
    text = '"""What: a."""\nA = 1\n"""None; of b."""\nclass C:\n    """The same c."""\n    x: int\n'
    text += '    """It."""\n    y: int\n    """Its item."""\n    "Of no attribute."\n'
    text += 'def f():\n    """\n    Those\n    of d."""\ndef g():\n    "What-if studies of that."\n'
    text += 'async def h():\n    "Its item."\n'
    assert riddles(ast.parse(text)) == [
        "1: What: a.",
        "3: None; of b.",
        "5: The same c.",
        "7: It.",
        "12: Those of d.",
        "18: Its item.",
    ]
    text = "def _asked(given, *, offered):\n    found: int = 1\n    self._told, finder = given, found\n"
    assert sorted(participles(text)) == ["1: _asked", "1: given", "2: found", "3: _told"]
