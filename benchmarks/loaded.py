"""Code that commands load: modules and tokens of the package, and the largest parts of it.

python -m benchmarks.loaded
python -m benchmarks.loaded "solve mm -s i=16,j=16,k=16"
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tokenize
from collections import Counter
from pathlib import Path

#: Commands that load as little as any of their kind should.
COMMANDS = (
    "solve mm -s i=16,j=16,k=16 --dataflow i,j",
    "map mm -s i=8,j=8,k=8 --arch simple --divisors-only",
    "network vgg16 --layers conv5_3 --dataflow o,r",
    "whatif mm -s i=8,j=8,k=8 --dataflow i,j --vary dsp=100,200",
    "list platforms",
    "--help",
)
#: No tokens of code.
LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}
PARTS = 4

_RUN = """
import contextlib, io, json, sys
from ithaca.cli import main
sys.argv = ["ithaca", *sys.argv[1:]]
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main()
own = {n: m.__file__ for n, m in [*sys.modules.items()] if n.partition(".")[0] == "ithaca"}
print(json.dumps(own), file=sys.stderr)
"""


def modules(command: str) -> dict[str, Path]:
    """The modules of the package that a command loads, with their files."""
    run = [sys.executable, "-c", _RUN, *command.split()]
    ended = subprocess.run(run, capture_output=True, text=True, check=True)
    known: dict[str, str | None] = json.loads(ended.stderr.splitlines()[-1])
    return {name: Path(file) for name, file in known.items() if file is not None}


def tokens(path: Path) -> int:
    """Tokens of a file's code, without comments, layout and strings that stand alone."""
    count, line = 0, list[tokenize.TokenInfo]()
    for token in tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline):
        if token.type in (tokenize.NEWLINE, tokenize.ENDMARKER):
            alone = len(line) == 1 and line[0].type == tokenize.STRING
            count, line = count + (0 if alone else len(line)), []
        elif token.type not in LAYOUT:
            line.append(token)
    return count


def main(commands: list[str]) -> None:
    """Print what each command loads."""
    for command in commands:
        parts: Counter[str] = Counter()
        files = modules(command)
        for name, path in files.items():
            parts[".".join(name.split(".")[1:3])] += tokens(path)
        largest = ", ".join(f"{part} {count:,}" for part, count in parts.most_common(PARTS))
        print(f"{sum(parts.values()):9,} tokens  {len(files):4} modules  ithaca {command}")
        print(f"{'':18}most: {largest}")


if __name__ == "__main__":
    main(sys.argv[1:] or [*COMMANDS])
