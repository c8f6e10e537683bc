"""Tables of layers in CSV: SCALE-Sim's topologies, and others by the names of their columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ithaca.files.messages import quoted, refuse
from ithaca.plugins.tables.workloads.kinds import kind_of
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

#: Kinds of layers by the numbers that GAMMA's tables have in their last column, T. The first three
#: numbers of the last kind are M, N and K, whatever the titles are.
_GAMMA = {"0": "FC", "1": "CONV", "2": "DSCONV", "3": "GEMM"}

#: Columns that may state two numbers, along rows and columns, and their cells.
_PAIRS = ("window", "map", "places", "stride", "dilation", "padding")
_PAIR = re.compile(r"[(\[]?([0-9]{1,9}) *[x×*,; ] *([0-9]{1,9})[)\]]?", re.IGNORECASE)

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
    (_, titles), *lines = [*table_rows(path)] or [(0, [])]
    sizes = sizes or {}
    header, lines = _worded(titles, lines)
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
    if any("intraline" in name for name in plain):
        raise refuse(path, "is a layout of SCALE-Sim, version 3; allowed: its topologies")
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
    _check_one_number_each(path, header, plain, columns)
    if not {"rows", "inputs"} & {*columns}:
        raise refuse(
            path,
            f"has columns {', '.join(map(quoted, titles[:8])) or 'none'}; allowed: a topology of "
            "SCALE-Sim, columns M, N, K, or channels, kernel and sizes of convolutions (such as "
            "C, K, R, S, P, Q, stride)",
        )
    product = [*_PRODUCT.values()][: len(columns)] + [""] * (len(columns) - 4) + ["kind"]
    rows_of = (
        _row(
            f"{path} row {line}",
            cells,
            product if header is not titles and cells[-1:] == [_GAMMA["3"]] else columns,
            header,
            f"layer{number}",
        )
        for number, (line, cells) in enumerate(_valued(path, lines, columns, sizes), 1)
    )
    remarks, parameters = [*_remarks(header, columns, lines)], tuple(sizes.items())
    if _is_dense(columns):
        remarks.append("taken for dense layers: no column says the sizes of maps or windows")
    return network_of(path, rows_of, what, remarks, parameters=parameters)


def _is_dense(columns: Sequence[str]) -> bool:
    """Whether the layers of such columns have channels alone."""
    return "inputs" in columns and not any(
        name.startswith(("map", "places", "window", "stride", "padding", "dilation"))
        for name in columns
    )


def _worded(
    header: list[str], lines: list[tuple[int, list[str]]]
) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Titles and rows with words for the numbers of kinds, where the last column has GAMMA's."""
    kinds = {cells[-1] for _, cells in lines if len(cells) == len(header)}
    if header[-1:] != ["T"] or not kinds <= {*_GAMMA}:
        return header, lines
    worded = [
        (line, [*cells[:-1], _GAMMA[cells[-1]]] if len(cells) == len(header) else cells)
        for line, cells in lines
    ]
    return [*header[:-1], "type"], worded


def _check_one_number_each(
    path: Path, header: Sequence[str], plain: Sequence[str], columns: Sequence[str]
) -> None:
    """Refuse two columns for one number, and letters that stand for another beside a kernel.

    Parameters
    ----------
    path : Path
        The file.
    header : sequence of str
        Titles of the columns.
    plain : sequence of str
        The same in small letters and digits.
    columns : sequence of str
        The meaning of each column.
    """
    for place, own in enumerate(columns):
        if own and own not in _WORDS and own in columns[:place]:
            both = f"{quoted(header[columns.index(own)])} and {quoted(header[place])}"
            raise refuse(path, f"has columns {both} for one number; allowed: one of them")
    for letter, half, allowed in (
        ("s", "window_0", "stride, or kh and kw"),
        ("p", "places_1", "padding, or oh and ow"),
    ):
        if {"window", _COLUMNS[letter]} <= {*columns} and letter in plain and half not in columns:
            kernel, own = header[columns.index("window")], header[plain.index(letter)]
            raise refuse(
                path, f"has a column {quoted(own)} beside {quoted(kernel)}; allowed: {allowed}"
            )


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


def _remarks(
    header: Sequence[str], columns: Sequence[str], rows: Sequence[tuple[int, list[str]]]
) -> Iterator[str]:
    """Lines on columns, and on kinds of layers, that are not known, if there are any.

    Parameters
    ----------
    header : sequence of str
        Titles of the columns.
    columns : sequence of str
        The meaning of each column, as far as it has one.
    rows : sequence of tuple of int and list of str
        The rows, with their lines.
    """
    names = [quoted(name) for name, own in zip(header, columns, strict=False) if name and not own]
    if names:
        yield f"not read: column{'s' * (len(names) > 1)} {', '.join(names)}"
    kinds = dict.fromkeys(_kind(cells, columns) for _, cells in rows)
    unknown = [quoted(kind) for kind in kinds if kind and not kind_of(kind).known]
    if unknown:
        listed = ", ".join(unknown[:8]) + ", …" * (len(unknown) > 8)
        yield f"taken for plain layers: kind{'s' * (len(unknown) > 1)} {listed}"


def _kind(cells: Sequence[str], columns: Sequence[str]) -> str:
    """The words that say what a row is, of all columns that do."""
    return " ".join(
        cell for own, cell in zip(columns, cells, strict=False) if own == "kind" and cell
    )


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
        own = "stride_1" if "stride" in name else "batch" if "batch" in name else ""
        columns.append("kind" if _COLUMNS.get(name) == "kind" else own)
    if "stride_1" in columns:
        columns[7] = "stride_0"
    header = [*header, *_TOPOLOGY[len(header) - 1 :]]
    columns += _TOPOLOGY[len(columns) - 1 :]
    rows: list[LayerRow | LeftOut] = []
    partial = 0
    for number, (line, cells) in enumerate(_valued(path, lines, columns, sizes), 1):
        row = _row(f"{path} row {line}", cells, columns, header, f"layer{number}")
        rows.append(row)
        if isinstance(row, LeftOut):
            continue
        numbers = dict(row.numbers)
        if _DEPTHWISE in row.name and "inputs" in numbers and "groups" not in numbers:
            numbers["groups"] = numbers["inputs"]
            numbers["outputs"] = numbers["inputs"] * numbers.get("outputs", 1)
        partial += any(
            (numbers.get(f"map_{d}", 0) - numbers.get(f"window_{d}", 0))
            % numbers.get(f"stride_{d}", 1)
            for d in "01"
        )
        rows[-1] = replace(row, numbers=numbers)
    remarks = [*_remarks(header, columns, lines)]
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
    for own, cell in zip(columns, cells, strict=False):
        name = cell if own == "name" and cell else name
    stated = _kind(cells, columns)
    kind = kind_of(stated)
    if kind.few:
        return LeftOut(where, name, stated)
    numbers = _numbers(where, cells, columns, header)
    if _is_dense(columns) and not kind.slides:
        numbers |= {"places_0": 1, "places_1": 1}
    if kind.each and "inputs" in numbers:
        channels, outputs = numbers["inputs"], numbers.get("outputs", 1)
        if (groups := numbers.get("groups", channels)) != channels:
            title = header[columns.index("groups")]
            raise refuse(
                where,
                f"{title} is {groups} where the kind is {quoted(stated)}; allowed: {channels}, as "
                "channels are",
            )
        numbers |= {"groups": channels, "outputs": channels if outputs == 1 else outputs}
    return LayerRow(where, name, numbers, kind.turned and "inputs" in numbers)


def _numbers(
    where: str, cells: Sequence[str], columns: Sequence[str], header: Sequence[str]
) -> dict[str, int]:
    """The numbers of a row; an empty cell says nothing."""
    numbers: dict[str, int] = {}
    titles: dict[str, str] = {}
    for cell, column, title in zip(cells, columns, header, strict=False):
        if not column or column in _WORDS or not cell:
            continue
        pair = _PAIR.fullmatch(cell) if column in _PAIRS else None
        match = pair or re.fullmatch(r"([0-9]{1,9})(?:\.0*)?", cell)
        values = [int(each) for each in match.groups()] if match else [0]
        if match is None or (0 in values and column not in _PADDING):
            letter = f", or its size: -s {cell}=8" if _LETTER.fullmatch(cell) else ""
            large = " up to 999999999" if re.fullmatch(r"[0-9]{10,}(?:\.0*)?", cell) else letter
            one = "positive integers" if pair else f"a positive integer{large}"
            raise refuse(where, f"{title} is {quoted(cell)}; allowed: {one}")
        names = [f"{column}_{d}" for d in (0, 1)] if column in _PAIRS else [column]
        for name, value in zip(names, values * len(names), strict=False):
            if numbers.setdefault(name, value) != value:
                raise refuse(
                    where,
                    f"{title} is {quoted(cell)}; allowed: {numbers[name]}, as {titles[name]} says",
                )
            titles.setdefault(name, title)
    for d in "01":
        if f"window_{d}" not in numbers and "inputs" in numbers:
            numbers[f"window_{d}"] = numbers.get("window_0", 1)
    return numbers
