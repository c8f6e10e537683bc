"""Documents whose console blocks are run: every command prints what the document shows.

Two kinds of fenced blocks count, in the order they stand in, all in one folder per document::

    ```yaml title="layer.yaml"      a block with a title is a file: it is written
    ```console                      after "$ " stands a command (a line that ends in a backslash
                                    goes on after "> "), below it what it prints

Files of another page are there, too, where a page says so in a line of its own: "The files `a.yaml`
and `b.yaml` are those of [the page](page.md)".

Tables are as narrow as for a terminal of 100 columns, and longer lines are folded. What may differ
between two runs is not compared: box counts, seconds, and the width of columns.
"""

import os
import re
import shlex
import subprocess
import sys
from difflib import unified_diff
from textwrap import wrap

from tests.command_line import ithaca

_BLOCK = re.compile(
    r'^```(?:console\n(?P<console>.*?)|\w+ title="(?P<file>[^"]+)"\n(?P<text>.*?))^```$',
    re.DOTALL | re.MULTILINE,
)

#: Width of what documents show (columns).
WIDTH = 100

#: How the rest of a line that is folded begins.
FOLD = " " * 6

#: A command that needs no shell (outside quotes, nothing that means something to one), but for what
#: it is piped to.
_PLAIN = r"""ithaca (?:"[^"$`\\]*"|'[^']*'|[\w ,.:=/+@%-])*"""
_FILTERED = re.compile(rf"({_PLAIN})(?:\| *((?:grep|tail) .*))?")


def check(document, folder, update):
    """Run the blocks of a document in a folder and compare what they print.

    Parameters
    ----------
    document : Path
        A Markdown file.
    folder : Path
        An empty folder.
    update : str
        Environment variable that, if set, has the document rewritten with what was printed instead.
    """
    text = document.read_text(encoding="utf-8")
    for name, content in borrowed(text, document.parent).items():
        (folder / name).write_text(content, encoding="utf-8")
    renewed = run_blocks(text, folder)
    if os.environ.get(update):
        document.write_text(renewed, encoding="utf-8")
    else:
        says, prints = plain(text).splitlines(), plain(renewed).splitlines()
        changes = list(
            unified_diff(
                says, prints, f"{document.name} says", "the program prints", lineterm="", n=2
            )
        )
        assert not changes, "\n".join(changes)


def borrowed(text, folder):
    """The files that a page takes from another one of the folder, with their contents."""
    files = {}
    for line in re.findall(r"^The files? `.* (?:is|are) th(?:at|ose) of .*$", text, re.MULTILINE):
        page = (folder / re.search(r"\]\(([\w-]+\.md)", line)[1]).read_text(encoding="utf-8")
        known = {block["file"]: block["text"] for block in _BLOCK.finditer(page)}
        files |= {name: known[name] for name in re.findall(r"`([^`]*)`", line.partition("[")[0])}
    return files


def run_blocks(text, folder):
    """The text of a document with what its commands print now."""
    parts, end = [], 0
    for block in _BLOCK.finditer(text):
        if block["file"] is not None:
            (folder / block["file"]).write_text(block["text"], encoding="utf-8")
            continue
        commands = re.findall(r"^\$ ((?:.*\\\n> )*.*)$", block["console"], re.MULTILINE)
        before, now = block["console"], _run(commands, folder)
        if plain(before) == plain(now) and not too_wide(before):
            now = before  # times and counts of before, which others need not read again
        parts += [text[end : block.start("console")], now]
        end = block.end("console")
    return "".join([*parts, text[end:]])


def too_wide(text):
    """The lines of console blocks that are wider than documents show."""
    return [line for line in text.splitlines() if len(line) > WIDTH]


def _run(commands, folder):
    """The commands and their output, as documents show them."""
    tools = folder / "bin"
    tools.mkdir(exist_ok=True)
    for name, module in (("ithaca", " -m ithaca.cli"), ("python", "")):
        (tools / name).write_text(f'#!/bin/sh\nexec "{sys.executable}"{module} "$@"\n')
        (tools / name).chmod(0o755)
    variables = {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "COLUMNS": str(WIDTH)}
    shown = []
    for shown_command in commands:
        command = shown_command.replace("\\\n> ", "")
        plain_command = _FILTERED.fullmatch(command)
        if plain_command is None:
            printed = _shell(command, folder, variables)
        else:
            words, filtered = shlex.split(plain_command[1])[1:], plain_command[2]
            done = ithaca(*words, cwd=folder, env=variables, together=filtered is None)
            printed = (
                done.stdout
                if filtered is None
                else done.stderr + _shell(filtered, folder, variables, done.stdout)
            )
        lines = [folded(line.rstrip()) for line in printed.strip("\n").split("\n")]
        shown.append("\n".join([f"$ {shown_command}", *lines]).rstrip("\n") + "\n")
    return "\n".join(shown)


def folded(line):
    """A line as documents show it: folded at spaces, as a terminal of their width would."""
    begin = line[: len(line) - len(line.lstrip())]
    return "\n".join(
        wrap(
            line,
            WIDTH,
            subsequent_indent=begin + FOLD,
            break_on_hyphens=False,
        )
        or [""]
    )


def _shell(command, folder, variables, given=""):
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env=os.environ | variables,
        input=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    return done.stdout


def plain(text):
    """Text without what may differ between runs: folds, box counts, seconds, and the width of
    columns of seconds."""
    text = "\n".join(_without_seconds(text))  # before rows that begin with blanks pass for folds
    text = re.sub(rf"\n *{FOLD}(?=\S)", " ", text)
    text = re.sub(r"[\d,]+ (box|arrays?|plans?)(?:es)?, [\d.]+ s\b", r"\1", text)
    text = re.sub(
        r"[\d,]+ box(?:es)? of accelerators, .*; [\d.]+ s\b", "boxes of accelerators", text
    )
    text = re.sub(r"; [\d.]+ s(?=\)|$)", "; boxes", text, flags=re.MULTILINE)  # none was counted
    text = re.sub(r"confirmed( by \w+)?(, the same search,)? in [\d.]+ s\b", r"confirmed\1\2", text)
    text = re.sub(r"(proven again|same search) in [\d.]+ s\b", r"\1", text)
    text = re.sub(r"\n{2,}", "\n\n", text)
    return re.sub(r"[━─┏┓┡┩└┘┳┴╇]+", "━", text)


def _without_seconds(text):
    """Lines of a text; in tables whose last column is headed "seconds", without that column."""
    lines, seconds = [], False
    for line in text.split("\n"):
        if line.startswith("┃") or line.endswith(" seconds"):
            seconds = line.rstrip("┃ ").endswith("seconds")
        timed = seconds and line.startswith(("┃", "│"))
        line = re.sub(r"[^┃│]*[┃│]$", "", line) if timed else line
        lines.append(re.sub(r" +\d+\.\d\d$", "", line) if seconds else line)  # without borders
    return lines
