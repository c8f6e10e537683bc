"""Mutants of files: changes of structure where a file has one, of bytes, and of messages."""

import json
import random
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import cache, reduce
from operator import getitem
from pathlib import Path

from ithaca.files.timeloop_yaml import MAX_DEPTH, TAGS
from ithaca.files.yaml_documents import parse_yaml


@dataclass(frozen=True)
class Kind:
    """A kind of files."""

    name: str
    ending: str
    texts: tuple[str, ...] | Callable[[], tuple[str, ...]]
    """Texts of files that are read, or what makes them."""
    read: Callable[[Path], object]
    mutate: Callable[[bytes, random.Random], bytes] | None = None
    """The change of what is no document; None: of structure, and of bytes now and then."""
    models: tuple[bytes, ...] = ()
    """Files that are no text."""

    @property
    def seeds(self):
        """Texts of files that are read."""
        return self.texts() if callable(self.texts) else self.texts

    @property
    def contents(self):
        """All files that are read."""
        return (*(seed.encode() for seed in self.seeds), *self.models)


#: What a value is replaced by.
STRANGE = (
    *(None, True, False, 0, 1, -1, 2, 0.5, -0.5, 1e-300, 1e300),
    *(10**18, 10**40, 10**299, 2**63, -(2**63)),
    *("", " ", "x", "nan", "inf", "-1", "0", "1/0", "x/(x-x)", "ceil(1/0)", "9" * 30),
    *("é×≤\u202e\u2028", "\U0001f600", "\x1b[31m", "a" * 3000, "(" * 300, "{{ 1 }}"),
    *("../../../../etc/passwd", "/dev/zero", "__class__"),
    *([], [[]], [None], {}, {"": {}}, {"x": 1}, [1, 2, 3], ["x", "x"], {"a": {"b": {"c": {}}}}),
    list(range(300)),
    {f"key{n}": n for n in range(300)},
)


def items_of(value):
    if isinstance(value, dict):
        return list(value.items())
    return list(enumerate(value)) if isinstance(value, list) else []


def places(value, steps=()):
    """Paths to everything inside a document."""
    return [
        path
        for key, own in items_of(value)
        for path in ((*steps, key), *places(own, (*steps, key)))
    ]


def mutated(document, draw):
    """A copy of a document with one to three changes of structure."""
    document = deepcopy(document)
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        every = places(document)
        if not every:
            return deepcopy(draw.choice(STRANGE))
        *steps, last = draw.choice(every)
        around = reduce(getitem, steps, document)
        around[last], own = deepcopy(draw.choice(STRANGE)), around[last]
        match draw.randrange(10):
            case 4:
                del around[last]
            case 5 if isinstance(around, list):
                around[last : last + 1] = [own, deepcopy(own)]
            case 5:
                around[last] = own
                around[draw.choice(("x", f"{last}x", f"{last}".upper(), "name", "", "é"))] = own
            case 6:
                around[last] = draw.choice(([own], {"x": own}, {str(last): own}, [own, own]))
            case 7:
                around[last] = own
                around[last] = deepcopy(reduce(getitem, draw.choice(every), document))
            case 8 if isinstance(own, int | float):
                around[last] = draw.choice(
                    (-own, own + 1, own * 1000, own + 0.5, str(own), own - own)
                )
            case 8 if isinstance(own, str):
                changes = (own + own, own[1:], own.upper(), own + " + 1", f"({own})", own[::-1])
                around[last] = draw.choice(changes)
            case 9:
                for _ in range(draw.choice((2, 9, 50, 200))):
                    own = draw.choice(([own], {"x": own}))
                around[last] = own
    return document


#: What stands in texts.
PIECES = (
    *(b"", b"[", b"]", b"{", b"}", b":", b",", b'"', b"'", b"\\", b"\n", b"\t", b"- ", b"#", b"="),
    *(b"&a ", b"*a", b"!x ", b"|", b">", b"---\n", b"\0", b"\xff", b"{{", b"{%", b"<<: "),
    *(b"1e999", b"NaN", b"-Infinity", b"0x10", b"-1", b"0", b"99999999999999999999"),
)


def mutated_bytes(content, draw):
    """A file with one to three changes of bytes."""
    raw = bytearray(content)
    for _ in range(draw.choice((1, 1, 2, 3))):
        at, length = draw.randrange(len(raw) + 1), draw.choice((0, 1, 1, 2, 10, 100))
        noise = bytes(draw.randrange(256) for _ in range(draw.randrange(1, 4)))
        again = bytes(raw[at : at + 20]) * draw.choice((1, 2, 50))
        raw[at : at + length] = draw.choice((draw.choice(PIECES), noise, again))
    return bytes(raw)


@cache
def document(text, ending):
    if ending == ".json":
        return json.loads(text)
    return parse_yaml(text, "seed", (*TAGS, "!Arrays"), MAX_DEPTH, references=True)


def drawn(kind, draw):
    """A mutant of a kind: the ending of its name, and its content."""
    if kind.mutate is not None:
        return kind.ending, kind.mutate(draw.choice(kind.models), draw)
    text = draw.choice(kind.seeds)
    if kind.ending == ".csv" or draw.random() < 0.25:
        return kind.ending, mutated_bytes(text.encode(), draw)
    ending = kind.ending if kind.name == "mapping" else ".json"
    return ending, json.dumps(mutated(document(text, kind.ending), draw)).encode()
