"""MAESTRO's descriptions of networks (``.m``): layers with their dimensions.

Dataflows are not read: Ithaca chooses those. Dimensions are MAESTRO's: Y and X of the input,
padding included, Y' and X' of the output; of a nested grouped convolution (NGCONV) K and C of each
of G groups.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from ithaca.files.messages import among, quoted, refuse
from ithaca.files.reading import read_text
from ithaca.plugins.tables.workloads.rows import LayerRow, LeftOut, network_of
from ithaca.workloads.networks.network import Network, chosen_parameters

#: Largest file (bytes); published ones have up to 100,000.
MAX_BYTES = 1 << 22

_TOKEN = re.compile(r"\n|//[^\n]*|/\*.*?(?:\*/|\Z)|[A-Za-z_][\w.\-']*|\d+|[{}();:,]|\S", re.DOTALL)

_DIMENSIONS = {
    "N": "batch",
    "K": "outputs",
    "C": "inputs",
    "R": "window_0",
    "S": "window_1",
    "Y": "map_0",
    "X": "map_1",
    "Y'": "places_0",
    "X'": "places_1",
    "G": "groups",
}

_STEPS = {"Y": "_0", "X": "_1"}

#: Types of layers that are kernels.
TYPES = ("CONV", "DSCONV", "NGCONV", "TRCONV", "GEMM")


def read_maestro(path: Path, sizes: Mapping[str, int]) -> Network:
    """The network of a file of MAESTRO's; its constants are sizes.

    Raises `InputError` if it is none.
    """
    reader = _Reader(path, sizes)
    rows = list(reader.layers())
    remarks = ["its dataflows are not read: they are what is chosen"] * reader.dataflows
    return network_of(
        path,
        rows,
        "a network of MAESTRO",
        remarks,
        parameters=tuple(reader.chosen.items()),
    )


#: Other files of MAESTRO, by a word that they have.
_OTHERS = {
    "num_pes": "is hardware of MAESTRO",
    "Dataflow": "has a Dataflow of MAESTRO and no Layer",
}


class _Reader:
    """The tokens of a file, one after the other."""

    def __init__(self, path: Path, sizes: Mapping[str, int]) -> None:
        self.path, self.dataflows, self.place = path, False, 0
        text = read_text(path, MAX_BYTES)
        self.tokens = list[tuple[int, str]]()
        line = 1
        for token in _TOKEN.findall(text):
            if token.startswith("/*") and not token.endswith("*/"):
                raise refuse(f"{path} line {line}", "a comment has no end; allowed: one with */")
            if not token.startswith(("//", "/*", "\n")):
                self.tokens.append((line, token))
            line += token.count("\n")
        words = [token for _, token in self.tokens]
        constants = {
            name: int(value)
            for keyword, name, value in zip(words, words[1:], words[2:], strict=False)
            if keyword == "Constant" and value.isdecimal()
        }
        if "Layer" not in words:
            what = next((what for word, what in _OTHERS.items() if word in words), "has no Layer")
            raise refuse(path, f"{what}; allowed: a network of MAESTRO")
        self.chosen = chosen_parameters(path, constants, sizes)

    def next(self, *wanted: str) -> str:
        """The next token, which must be one of those wanted, if any are."""
        if self.place == len(self.tokens):
            raise refuse(self.path, f"ends early; allowed: {' or '.join(wanted) or 'a layer'}")
        line, token = self.tokens[self.place]
        self.place += 1
        if wanted and token not in wanted:
            raise refuse(
                f"{self.path} line {line}", f"{quoted(token)} stands there{among(token, wanted)}"
            )
        return token

    def layers(self) -> Iterator[LayerRow | LeftOut]:
        """The layers, whatever stands around them."""
        while self.place < len(self.tokens):
            if self.next() == "Layer":
                yield self._layer()

    def _layer(self) -> LayerRow | LeftOut:
        where = f"{self.path} line {self.tokens[self.place - 1][0]}"
        name, kind, numbers = "", "", dict[str, int]()
        while (token := self.next()) != "{":
            name += token
        while (token := self.next()) != "}":
            if token == "Type":
                self.next(":")
                kind = self.next()
            elif kind and kind not in TYPES and self._is_block():
                self._skip()
            elif token in ("Stride", "Dilation", "Padding"):
                steps = self._entries(where, {d: token.lower() + end for d, end in _STEPS.items()})
                numbers |= steps
            elif token == "Dimensions":
                product = {"M": "rows", "N": "columns", "K": "inner"}
                numbers |= self._entries(where, product if kind == "GEMM" else _DIMENSIONS)
            elif token == "Dataflow":
                self.dataflows = True
                self._skip()
            elif self._is_block():
                self._skip()
        if kind not in TYPES:
            return LeftOut(where, name, reason=f"Type is {quoted(kind)}{among(kind, TYPES)}")
        if kind == "DSCONV":
            numbers |= {"outputs": numbers.get("inputs", 1), "groups": numbers.get("inputs", 1)}
        if kind == "NGCONV":
            for channels in ("inputs", "outputs"):
                numbers[channels] = numbers.get(channels, 1) * numbers.get("groups", 1)
        return LayerRow(where, name, numbers, kind == "TRCONV")

    def _is_block(self) -> bool:
        return self.place < len(self.tokens) and self.tokens[self.place][1] == "{"

    def _skip(self) -> None:
        """Leave out a block with all that is in it."""
        self.next("{")
        depth = 1
        while depth:
            depth += {"{": 1, "}": -1}.get(self.next(), 0)

    def _entries(self, where: str, known: Mapping[str, str]) -> dict[str, int]:
        """Numbers by the names of dimensions, each an integer or a constant."""
        if self.next("{", ":") == ":":  # as XRBench writes them
            self.next("{")
        read: dict[str, int] = {}
        while (name := self.next()) != "}":
            if name in ",;:":
                continue
            if name not in known:
                raise refuse(where, f"dimension {quoted(name)} is unknown{among(name, known)}")
            value = self.next()
            value = self.next() if value == ":" else value
            number = int(value) if value.isdecimal() else self.chosen.get(value, 0)
            if number < (known[name][:-2] != "padding"):
                allowed = ", ".join(("a positive integer", *self.chosen))
                raise refuse(where, f"{name} is {quoted(value)}; allowed: {allowed}")
            read[known[name]] = number
        return read
