"""Files that are templates of Jinja, rendered in a process of their own: they come from anywhere.

The process has limits of time and memory, and reads files in a few folders alone. It imports this
module and no more of the package than it needs (`render_request`).
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from os.path import normpath
from pathlib import Path
from typing import Any, NoReturn

from ithaca.files.errors import InputError
from ithaca.files.inclusions import INCLUDED, is_template
from ithaca.files.messages import errors_at, quoted, refuse
from ithaca.files.reading import read_text

#: Limits of the process: seconds of CPU time and in all, and bytes of memory.
CPU_SECONDS, SECONDS, MEMORY = 3, 30, 512 << 20

#: Deepest inclusion of a file in another one, and most inclusions.
_DEEPEST, _INCLUSIONS = 8, 100

#: Program of the process: what is asked for comes on its standard input.
_PROGRAM = """
import json, sys
request = json.load(sys.stdin.buffer)
sys.path[:] = request.pop("path")
from ithaca.files.templates import render_request
print(json.dumps(render_request(**request)))
"""


def rendered(path: Path, text: str, max_bytes: int) -> str:
    """The text that a template comes to.

    Parameters
    ----------
    path : Path
        The file that it is from. Files of its folder may be taken in, and of those of `including`,
        whose variables it has.
    text : str
        The template.
    max_bytes : int
        Most characters that it may come to.

    Returns
    -------
    str
        The text.

    Raises
    ------
    InputError
        If it fails, takes too much time or memory, or asks for other files.
    """
    more = INCLUDED.get()
    request = {
        "path": sys.path,
        "file": str(path),
        "text": text,
        "folders": [str(path.parent.resolve()), *(str(f) for f in more if isinstance(f, Path))],
        "variables": dict(each.split("=", 1) for each in more if isinstance(each, str)),
        "max_bytes": max_bytes,
        "limits": (CPU_SECONDS, MEMORY),
    }
    command = [sys.executable, "-I", "-c", _PROGRAM]
    try:
        done = subprocess.run(
            command, input=json.dumps(request).encode(), capture_output=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        raise refuse(path, f"its template takes more than {SECONDS} s; allowed: less") from None
    if done.returncode:
        raise refuse(path, f"its template {_end(done.returncode)}")
    text, refusal = json.loads(done.stdout)
    if refusal is not None:
        raise InputError(refusal)
    return str(text)


def _end(status: int) -> str:
    """The end of the process, as the end of an error line."""
    if -status in (signal.SIGXCPU, signal.SIGKILL):
        return f"takes more than {CPU_SECONDS} s of CPU time; allowed: less"
    return f"ends what renders it (status {status}); allowed: variables, conditions, loops"


def render_request(
    file: str,
    text: str,
    folders: Sequence[str],
    variables: Mapping[str, str],
    max_bytes: int,
    limits: tuple[int, int],
) -> tuple[str | None, str | None]:
    """The text of a template in a process that is there for it alone, or the line that refuses it.

    Parameters
    ----------
    file : str
        Its path.
    text : str
        The template.
    folders : sequence of str
        Where files that it takes in may be, without links.
    variables : mapping of str to str
        Its variables.
    max_bytes : int
        Most characters that it may come to.
    limits : tuple of int
        Seconds of CPU time, and bytes of memory.
    """
    _limit_process(*limits)
    try:
        renderer = _Renderer(tuple(map(Path, folders)), variables, max_bytes)
        return renderer.render(Path(file), text, ()), None
    except InputError as error:
        return None, str(error)
    except MemoryError:
        allowed = f"allowed: at most {limits[1] >> 20} MiB"
        return None, str(refuse(file, f"its template needs too much memory; {allowed}"))


def _limit_process(seconds: int, memory: int) -> None:
    """Limit time and memory of this process from now on, as far as the system does."""
    import resource

    for name, most in (
        ("RLIMIT_CPU", seconds),
        ("RLIMIT_AS", memory),
        ("RLIMIT_DATA", memory),
        ("RLIMIT_CORE", 0),
    ):
        with suppress(AttributeError, OSError, ValueError):
            resource.setrlimit(getattr(resource, name), (most, most))


class _Renderer:
    """Renders templates, and the files that they take in, which may be templates, too."""

    def __init__(
        self, folders: tuple[Path, ...], variables: Mapping[str, str], max_bytes: int
    ) -> None:
        self.folders, self.variables, self.max_bytes = folders, variables, max_bytes
        self.inclusions = 0

    def render(self, path: Path, text: str, around: tuple[Path, ...], depth: int = 0) -> str:
        """The text of a file; ``around`` are further folders where names in it are looked for."""
        if not is_template(text):
            return text
        if depth == _DEEPEST:
            raise refuse(path, f"is included {depth} files deep; allowed: fewer")
        here = [*around, path.parent.resolve()]

        def find(name: object) -> Path | None:
            places = [self._inside(path, folder, name) for folder in here]
            for folder in self.folders[1:]:
                with suppress(InputError):
                    places.append(self._inside(path, folder, name))
            return next((place for place in places if place.is_file()), None)

        def include_text(name: object = None) -> str:
            file = find(name)
            if file is None:
                raise refuse(
                    path, f"includes {name}, which there is not; allowed: a file beside it"
                )
            self.inclusions += 1
            if self.inclusions > _INCLUSIONS:
                raise refuse(path, f"includes more than {_INCLUSIONS} files; allowed: fewer")
            return self.render(file, read_text(file, self.max_bytes), tuple(here), depth + 1)

        def add(folder: object = None) -> str:
            here.append(self._inside(path, path.parent.resolve(), folder))
            return ""

        def part_of(name: object, key: object) -> Any:
            from ithaca.files.timeloop_yaml import parse_timeloop

            if not isinstance(key, str):
                raise refuse(
                    path, f"includes {quoted(key)} of a file; allowed: the path of a field"
                )
            included = include_text(name)
            with errors_at(path):
                part: Any = parse_timeloop(included, str(name))
            for each in key.split("."):
                if not isinstance(part, dict) or each not in part:
                    raise refuse(path, f"includes {key} of {name}, which it has not")
                part = part[each]
            return part

        def include(name: object = None, key: object = None) -> str:
            return _flow(part_of(name, key))

        def include_all(pattern: object = None, key: object = None) -> str:
            folder, _, ending = str(pattern).rpartition("/")
            places = (self._inside(path, each, folder or ".") for each in here)
            files = next((own for place in places if (own := sorted(place.glob(ending)))), [])
            parts = [part_of(str(file), key) for file in files]
            if any(not isinstance(part, list) for part in parts) and len(parts) > 1:
                raise refuse(path, f"includes all {quoted(pattern)}; allowed: lists")
            return _flow([each for part in parts for each in part])

        def unsupported(*_: object) -> NoReturn:
            raise refuse(path, "includes other templates; allowed: include, include_text")

        from jinja2 import FunctionLoader, StrictUndefined
        from jinja2.sandbox import ImmutableSandboxedEnvironment

        environment = ImmutableSandboxedEnvironment(
            undefined=StrictUndefined, loader=FunctionLoader(unsupported)
        )
        del environment.globals["lipsum"]
        environment.globals |= {
            "add_to_path": add,
            "cwd": lambda: str(path.parent),
            "find_path": lambda name=None: str(find(name) or name),
            "include": include,
            "include_all": include_all,
            "include_text": include_text,
            "path_exists": lambda name=None: find(name) is not None,
            **self.variables,
        }
        pieces, length = [], 0
        try:
            for piece in environment.from_string(text).generate():
                pieces.append(piece)
                length += len(piece)
                if length > self.max_bytes:
                    most = f"{self.max_bytes:,} characters"
                    raise refuse(path, f"its template comes to more than {most}; allowed: fewer")
        except (InputError, MemoryError):
            raise
        except Exception as error:
            line = getattr(error, "lineno", None) or _line(error)
            allowed = (
                "variables that files define, or --include-from NAME=VALUE, and operations on "
                "values that have them"
            )
            at = f"{path}: line {line}" if line else path
            raise refuse(at, f"its template fails: {_reason(error)}; allowed: {allowed}") from None
        return "".join(pieces)

    def _inside(self, path: Path, folder: Path, name: object) -> Path:
        """The place that a name in a file means, seen from a folder. Raises `InputError` if that
        is outside of the folders where files may be."""
        if not isinstance(name, str) or "\0" in name:
            raise refuse(path, f"includes {quoted(name)}; allowed: the name of a file")
        # first as it is written: what links lead to outside is nobody's business
        place = Path(normpath(folder / name))
        if self._allowed(place):
            with suppress(OSError, RuntimeError):
                place = place.resolve()
                if self._allowed(place):
                    return place
        raise refuse(
            path,
            f"asks for {quoted(name)}, which is outside of {self.folders[0]}; allowed: files "
            "inside, or of folders that --include-from names",
        )

    def _allowed(self, place: Path) -> bool:
        return any(place.is_relative_to(folder) for folder in self.folders)


def _line(error: BaseException) -> int | None:
    """The line of a template that raised an error."""
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<template>":
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _reason(error: Exception) -> str:
    """The reason of an error, in words."""
    if isinstance(error, RecursionError):
        return "it calls itself without end"
    text = re.sub(r"[\w.]+\.<locals>\.|; use sys\..*", "", str(error))
    return text or type(error).__name__


def _flow(part: Any) -> str:
    """A document as YAML in a line; mappings with their tags."""
    if isinstance(part, dict):
        tag = f"!{part['!']} " if "!" in part else ""
        fields = (f"{json.dumps(name)}: {_flow(own)}" for name, own in part.items() if name != "!")
        return f"{tag}{{{', '.join(fields)}}}"
    if isinstance(part, list):
        return f"[{', '.join(map(_flow, part))}]"
    return json.dumps(part)
