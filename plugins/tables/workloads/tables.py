"""Tables of layers in CSV: SCALE-Sim's topologies, and others by the names of their columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ithaca.files.messages import quoted, refuse
from ithaca.plugins.tables.workloads.rows import LayerRow, LeftOut, network_of
from ithaca.workloads.layer_files import read_layers, states_extents, table_rows
from ithaca.workloads.networks.network import Layer, Network, chosen_parameters, merge

#: Columns of SCALE-Sim's topologies of convolutions after the name, by place; a stride is one
#: number, or two.
_TOPOLOGY = ("map_0", "map_1", "window_0", "window_1", "inputs", "outputs", "stride")

#: What layers of SCALE-Sim have in their names that have a filter for each channel.
_DEPTHWISE = "DP"

#: Numbers of layers by the names of columns, in small letters and digits alone.
_COLUMNS: Mapping[str, str] = {
    alias: name
    for name, aliases in {
        "name": "name layer layername",
        "kind": "type layertype kind op operator optype operation",
        "batch": "n batch batchsize",
        "outputs": "k m o oc co cout outc nof nofm ochannels outchannels outputchannels outchannel "
        "numfilter numfilters filters",
        "inputs": "c i ic ci cin inc nif nifm ichannels inchannels inputchannels inchannel channel "
        "channels",
        "window": "kernel kernelsize filter filtersize window",
        "window_0": "r kh fh fy ky kernelheight kernelh filterheight filterh",
        "window_1": "s kw fw fx kx kernelwidth kernelw filterwidth filterw",
        "map": "inputsize imagesize",
        "map_0": "h y ih hin iy inputheight inheight inputh ifmapheight ifmaph ifmh inh height",
        "map_1": "w x iw win ix inputwidth inwidth inputw ifmapwidth ifmapw ifmw inw width",
        "places": "outputsize",
        "places_0": "p e oh hout oy outputheight outheight outputh ofmapheight ofmaph ofmh outh",
        "places_1": "q f ow wout ox outputwidth outwidth outputw ofmapwidth ofmapw ofmw outw",
        "stride": "stride strides",
        "stride_0": "sh strideh strideheight stridey hstride",
        "stride_1": "sw stridew stridewidth stridex wstride",
        "padding": "pad padding",
        "padding_0": "ph padh padheight paddingh",
        "padding_1": "pw padw padwidth paddingw",
        "dilation": "dilation",
        "dilation_0": "dh dilationh hdilation",
        "dilation_1": "dw dilationw wdilation",
        "groups": "g group groups",
        "count": "count repeat repeats times",
    }.items()
    for alias in aliases.split()
}

#: Columns of products of an M × K and a K × N matrix.
_PRODUCT = {"m": "rows", "n": "columns", "k": "inner"}

#: Columns that may state two numbers, along rows and columns, and their cells.
_PAIRS = ("window", "map", "places", "stride", "dilation", "padding")
_PAIR = re.compile(r"[(\[]?([0-9]{1,9}) *[x×*,; ] *([0-9]{1,9})[)\]]?", re.IGNORECASE)

#: What is said of kinds of layers, in small letters: those with a filter for each channel, those
#: whose filter is turned around, those that multiply, and those of a few operations per element.
_EACH = ("depthwise", "dwconv", "dsconv")
_TURNED = ("transpose", "deconv", "upconv")
_MULTIPLY = ("conv", "fc", "full", "linear", "dense", "gemm", "mm", "matmul", "pointwise")
_FEW = (
    *("pool", "relu", "activation", "eltwise", "elementwise", "norm", "softmax", "concat"),
    *("flatten", "reshape", "dropout", "upsample", "add"),
)

#: Cells of templates that stand for a number.
_LETTER = re.compile(r"[A-Za-z_]\w{0,15}")

#: Columns of words.
_WORDS = ("name", "kind")

#: Numbers that may be 0.
_PADDING = ("padding", "padding_0", "padding_1")


def read_table(path: Path, sizes: Mapping[str, int] | None = None) -> Network:
    """The network of a table of layers; letters that stand for numbers have sizes.

    Raises `InputError` if it is none that is known, or a letter has no size.
    """
    (_, header), *lines = [*table_rows(path)] or [(0, [])]
    sizes = sizes or {}
    plain = [re.sub(r"[^a-z0-9]", "", name.lower()) for name in header]
    if states_extents(path):
        chosen_parameters(path, {}, sizes)
        nests = [(row.cells.get("name", ""), row.nest) for row in read_layers(path)]
        names = [name or f"layer{place}" for place, (name, _) in enumerate(nests, 1)]
        layers = [
            Layer(name, nest, 1, (name,)) for name, (_, nest) in zip(names, nests, strict=True)
        ]
        what = "a table of layers as map --problems takes"
        return Network(
            path.stem, merge(layers), what, unordered=what, remarks=(f"{path} is taken for {what}",)
        )
    if len(plain) > 3 and "ifmap" in plain[1] and "filter" in plain[3]:
        return _topology(path, header, plain, lines, sizes)
    if {*_PRODUCT} <= {*plain} and not {"c", "r", "s", "channels"} & {*plain}:
        known = {"name": "name", "batch": "batch", **_PRODUCT}
        known |= {
            alias: name for alias, name in _COLUMNS.items() if name in ("name", "kind", "count")
        }
        what = "a table of matrix products (M × K times K × N), as SCALE-Sim reads"
    else:
        known, what = dict(_COLUMNS), "a table of layers by the names of its columns"
    columns = [known.get(name, "") for name in plain]
    for place, own in enumerate(columns):
        if own and own in columns[:place]:
            both = f"{quoted(header[columns.index(own)])} and {quoted(header[place])}"
            raise refuse(path, f"has columns {both} for one number; allowed: one of them")
    if not {"rows", "inputs"} & {*columns}:
        raise refuse(
            path,
            f"has columns {', '.join(map(quoted, header[:8])) or 'none'}; allowed: a topology of "
            "SCALE-Sim, columns M, N, K, or channels, kernel and sizes of convolutions (such as "
            "C, K, R, S, P, Q, stride)",
        )
    rows_of = (
        _row(f"{path} row {line}", cells, columns, header, f"layer{number}")
        for number, (line, cells) in enumerate(_valued(path, lines, columns, sizes), 1)
    )
    parameters = tuple(sizes.items())
    return network_of(path, rows_of, what, _unread(header, columns), parameters=parameters)


def _valued(
    path: Path,
    rows: Sequence[tuple[int, list[str]]],
    columns: Sequence[str],
    sizes: Mapping[str, int],
) -> Iterator[tuple[int, list[str]]]:
    """Rows with the sizes of letters in their place. Raises `InputError` where a size is of none.

    Parameters
    ----------
    path : Path
        The file.
    rows : sequence of tuple of int and list of str
        The rows, with their lines.
    columns : sequence of str
        The meaning of each column, as far as it has one.
    sizes : mapping of str to int
        Sizes by letter.
    """
    numbers = [place for place, name in enumerate(columns) if name and name not in _WORDS]
    cells = (cells[place] for _, cells in rows for place in numbers if place < len(cells))
    letters = {cell: 1 for cell in cells if _LETTER.fullmatch(cell)}
    known = chosen_parameters(path, letters, sizes)
    stated = {name: str(known[name]) for name in sizes}
    for line, row in rows:
        own = [stated.get(cell, cell) if n in numbers else cell for n, cell in enumerate(row)]
        yield line, own


def _unread(header: Sequence[str], columns: Sequence[str]) -> Iterator[str]:
    """The line on columns that are not known, if there are any."""
    names = [quoted(name) for name, own in zip(header, columns, strict=True) if name and not own]
    if names:
        yield f"not read: column{'s' * (len(names) > 1)} {', '.join(names)}"


def _topology(
    path: Path,
    header: list[str],
    plain: list[str],
    lines: Sequence[tuple[int, list[str]]],
    sizes: Mapping[str, int],
) -> Network:
    """SCALE-Sim's topology of convolutions, whose columns go by their places.

    Parameters
    ----------
    path : Path
        The file.
    header : list of str
        Titles of the columns.
    plain : list of str
        The same in small letters and digits.
    lines : sequence of tuple of int and list of str
        Its rows.
    sizes : mapping of str to int
        Sizes of letters.
    """
    columns = ["name", *_TOPOLOGY[: len(plain) - 1]]
    for name in plain[len(columns) :]:
        columns.append("stride_1" if "stride" in name else "batch" if "batch" in name else "")
    if "stride_1" in columns:
        columns[7] = "stride_0"
    header = [*header, *_TOPOLOGY[len(header) - 1 :]]
    columns += _TOPOLOGY[len(columns) - 1 :]
    rows, partial = [], 0
    for number, (line, cells) in enumerate(_valued(path, lines, columns, sizes), 1):
        where, name = f"{path} row {line}", cells[0] or f"layer{number}"
        numbers = _numbers(where, cells, columns, header)
        if _DEPTHWISE in name and "inputs" in numbers:
            numbers["groups"] = numbers["inputs"]
            numbers["outputs"] = numbers["inputs"] * numbers.get("outputs", 1)
        partial += any(
            (numbers.get(f"map_{d}", 0) - numbers.get(f"window_{d}", 0))
            % numbers.get(f"stride_{d}", 1)
            for d in "01"
        )
        rows.append(LayerRow(where, name, numbers))
    remarks = [*_unread(header, columns)]
    if partial:
        remarks.append(
            f"{partial} of {len(rows)} layers have a rest that no window covers; version 2 of "
            "SCALE-Sim counts one more there, which is not done here"
        )
    what, parameters = "a topology of SCALE-Sim, of convolutions", tuple(sizes.items())
    return network_of(path, rows, what, remarks, parameters=parameters)


def _row(
    where: str, cells: Sequence[str], columns: Sequence[str], header: Sequence[str], name: str
) -> LayerRow | LeftOut:
    """A row of a table, by its kind where it states one."""
    words = {own: cell for own, cell in zip(columns, cells, strict=False) if own in _WORDS}
    name, stated = words.get("name") or name, words.get("kind", "")
    kind = re.sub(r"[^a-z0-9]", "", stated.lower())
    each, turned = (any(word in kind for word in some) for some in (_EACH, _TURNED))
    if any(word in kind for word in _FEW) and not any(word in kind for word in _MULTIPLY):
        return LeftOut(where, name, stated)
    numbers = _numbers(where, cells, columns, header)
    if each and "inputs" in numbers:
        channels = numbers["inputs"]
        outputs = numbers.get("outputs", 1)
        numbers |= {"groups": channels, "outputs": channels if outputs == 1 else outputs}
    return LayerRow(where, name, numbers, turned and "inputs" in numbers)


def _numbers(
    where: str, cells: Sequence[str], columns: Sequence[str], header: Sequence[str]
) -> dict[str, int]:
    """The numbers of a row; an empty cell says nothing."""
    numbers: dict[str, int] = {}
    for cell, column, title in zip(cells, columns, header, strict=False):
        if column in _PAIRS and (pair := _PAIR.fullmatch(cell)):
            both = {f"{column}_{d}": int(pair[1 + d]) for d in (0, 1)}
            if column not in _PADDING and 0 in both.values():
                raise refuse(where, f"{title} is {quoted(cell)}; allowed: positive integers")
            numbers |= both
        elif column and column not in _WORDS and cell:
            match = re.fullmatch(r"([0-9]{1,9})(?:\.0*)?", cell)
            if match is None or (int(match[1]) < 1 and column not in _PADDING):
                letter = f", or its size: -s {cell}=8" if _LETTER.fullmatch(cell) else ""
                raise refuse(
                    where, f"{title} is {quoted(cell)}; allowed: a positive integer{letter}"
                )
            numbers[column] = int(match[1])
    for name in _PAIRS:
        if (value := numbers.pop(name, None)) is not None:
            numbers = {f"{name}_0": value, f"{name}_1": value} | numbers
    for d in "01":
        if f"window_{d}" not in numbers and "inputs" in numbers:
            numbers[f"window_{d}"] = numbers.get("window_0", 1)
    return numbers
