"""A picture of a waveform: which signals are high in which cycles of a run."""

from vcd.reader import TokenKind, tokenize

#: Pixels of a cycle, of a row, and left of the rows.
CYCLE, ROW, LEFT = 1, 22, 128


def cycles_high(path, signals):
    """The cycles after reset in which signals of one bit, by their paths, are high."""
    known = {}
    scope = []
    values = {}
    found = {name: [] for name in signals}
    before = {}
    cycle = 0
    with path.open("rb") as file:
        for token in tokenize(file):
            if token.kind is TokenKind.SCOPE:
                scope.append(token.scope.ident)
            elif token.kind is TokenKind.UPSCOPE:
                scope.pop()
            elif token.kind is TokenKind.VAR:
                known[".".join([*scope, token.var.reference])] = token.var.id_code
            elif token.kind is TokenKind.CHANGE_SCALAR:
                change = token.scalar_change
                rises = change.id_code == known["bench.clk"] and change.value == "1"
                # registers see what was there before this time
                if rises and before.get(known["bench.rst"]) == "0":
                    for name, signal in signals.items():
                        if before.get(known[signal]) == "1":
                            found[name].append(cycle)
                    cycle += 1
                values[change.id_code] = change.value
            elif token.kind is TokenKind.CHANGE_TIME:
                before = dict(values)
    return found


def drawn(rows, title):
    """An SVG with a row per signal, and a scale of cycles."""
    last = max(map(max, rows.values())) + 1
    width, height = LEFT + CYCLE * last + 10, ROW * (len(rows) + 1) + 30
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        f"<title>{title}</title>",
        "<style>text { font: 12px Arial, Helvetica, sans-serif; fill: #52514e; } .high { fill: #2a78d6; }"
        " .line { stroke: #c3c2b7; } rect.page { fill: #fcfcfb; }</style>",
        f'<rect class="page" width="{width}" height="{height}"/>',
    ]
    for number, (name, cycles) in enumerate(rows.items()):
        top = 10 + number * ROW
        parts.append(f'<text x="6" y="{top + 14}">{name}</text>')
        parts.append(
            f'<line class="line" x1="{LEFT}" y1="{top + 16}" x2="{LEFT + CYCLE * last}" y2="{top + 16}"/>'
        )
        first = previous = None
        for cycle in [*cycles, None]:
            if previous is not None and cycle != previous + 1:
                x, wide = LEFT + CYCLE * first, CYCLE * (previous + 1 - first)
                parts.append(
                    f'<rect class="high" x="{x}" y="{top + 4}" width="{wide - 0.5}" height="12"/>'
                )
                first = None
            first = cycle if first is None else first
            previous = cycle
    bottom = 10 + len(rows) * ROW
    for cycle in range(0, last + 1, 50):
        parts.append(f'<text x="{LEFT + CYCLE * cycle}" y="{bottom + 16}">{cycle}</text>')
    parts.append(f'<text x="6" y="{bottom + 16}">cycle</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"
