"""Standard error of commands: a live line on terminals, and nothing that matters where it cannot be
written."""

import json
import os
import pty
import re
import subprocess
import sys
import threading

import pytest

ITHACA = (sys.executable, "-m", "ithaca.cli")
SMALL = ("mm", "-s", "i=8,j=8,k=8", "--dataflow", "i,j", "--edition", "exact")

#: Shell words that leave a program nowhere to say what is wrong.
NOWHERE = ("2>&-", "2>/dev/full")


def run(words, redirection, folder):
    """Run a command in a shell; its exit status and standard output."""
    line = subprocess.list2cmdline([*ITHACA, *words])
    done = subprocess.run(
        ["sh", "-c", f"{line} {redirection}"],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
        timeout=100,
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize("redirection", NOWHERE)
def test_an_answer_needs_no_standard_error(redirection, tmp_path):
    status, printed = run(
        ("solve", *SMALL, "--threads", "2", "-o", "result.json", "--json"), redirection, tmp_path
    )
    assert status == 0
    assert (
        json.loads(printed)["objective"]["value"] == 90
    )  # and not "wrote result.json", which is for standard error
    assert json.loads((tmp_path / "result.json").read_text())["objective"]["value"] == 90


@pytest.mark.parametrize("redirection", NOWHERE)
@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("solve", "nothing-like-it"), 2),
        (("solve", *SMALL, "--no-such-option"), 2),
        (("solve", *SMALL, "--limit", "dsp=0"), 1),
    ],
)
def test_the_exit_status_needs_no_standard_error(redirection, words, status, tmp_path):
    assert run(words, redirection, tmp_path)[0] == status


@pytest.mark.parametrize(
    ("words", "count"),
    [
        (("solve", "mm", "-s", "i=8,j=8,k=8"), "[0-9]+/6"),
        (("whatif", "mm", "-s", "i=96,j=80,k=64", "--vary", "dsp=400,800"), "[0-9]+/2"),
        (("network", "vgg16", "--layers", "conv4_*", "--dataflow", "o,r"), "[0-2]/2"),
        (
            (
                "pareto",
                *SMALL,
                "--permutation",
                "C",
                "--objectives",
                "latency,dsp",
                "--max-points",
                "2",
            ),
            "[0-9]+ points",
        ),
    ],
)
def test_a_terminal_shows_how_far_a_command_is(words, count, tmp_path):
    seen, terminal = pty.openpty()
    heard = []

    def listen():
        while True:
            try:
                heard.append(os.read(seen, 4096))
            except OSError:  # the other end is closed
                return

    listener = threading.Thread(target=listen)
    listener.start()
    done = subprocess.run(
        [*ITHACA, *words],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=terminal,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "200"},
        timeout=100,
    )
    os.close(terminal)
    listener.join()
    os.close(seen)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", b"".join(heard).decode())
    assert done.returncode == 0, text
    assert re.search(count, text), text
    assert re.search(r"· incumbent (–|[0-9,]+).* · bound (–|[0-9,]+)", text), text
