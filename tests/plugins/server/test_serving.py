"""Commands as tools of assistants: a client of the protocol beside the command line."""

import asyncio
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import ithaca
from ithaca.files import extras
from ithaca.files.errors import InputError
from ithaca.plugins.server.commands import serving
from ithaca.plugins.server.commands.tools import NAMES, tools
from tests.command_line import refused

jsonschema = pytest.importorskip("jsonschema")


class Client:
    """A client that writes and reads lines."""

    def __init__(self, folder):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "ithaca.cli", "serve", "--mcp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=folder,
            env=os.environ | {"ITHACA_CACHE": ""},
            text=True,
        )
        self.number = 0

    def send(self, method, **params):
        self.number += 1
        self.write({"id": self.number, "method": method, "params": params})
        return self.number

    def write(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def ask(self, method, **params):
        number = self.send(method, **params)
        while (answer := json.loads(self.process.stdout.readline())).get("id") != number:
            pass
        return answer["result"]

    def call(self, name, **arguments):
        answer = self.ask("tools/call", name=name, arguments=arguments)
        return answer["content"][0]["text"], bool(answer.get("isError"))


@pytest.fixture
def client(tmp_path):
    pytest.importorskip("mcp")
    own = Client(tmp_path)
    try:
        information = {"name": "test", "version": "0"}
        version = {"protocolVersion": "2025-06-18", "capabilities": {}}
        assert (
            "proves it" in own.ask("initialize", clientInfo=information, **version)["instructions"]
        )
        own.write({"method": "notifications/initialized"})
        yield own
    finally:
        own.process.stdin.close()
        own.process.wait(30)


@pytest.mark.ci
def test_an_assistant_solves_explains_and_verifies(client, tmp_path):
    listed = client.ask("tools/list")["tools"]
    assert [tool["name"] for tool in listed] == list(NAMES)
    for tool in listed:
        jsonschema.Draft202012Validator.check_schema(tool["inputSchema"])
    sizes = {"i": 8, "j": 8, "k": 8}
    text, failed = client.call(
        "solve", workload="mm", sizes=sizes, limit=["dsp=60", "bram18k=50"], output="r.json"
    )
    best = ithaca.solve("mm", limit="dsp=60,bram18k=50", **sizes)
    assert not failed
    assert f"objective  {best.value}  (optimal" in text
    assert ithaca.load(tmp_path / "r.json").value == best.value
    text, failed = client.call("verify", result="r.json")
    assert not failed
    assert "optimal" in text
    text, failed = client.call("solve", workload="mn")
    assert failed
    assert "unknown workload 'mn'" in text
    assert len(text.splitlines()) == 1
    text, failed = client.call("nothing")
    assert (text, failed) == (f"unknown tool nothing; allowed: {', '.join(NAMES)}", True)


@pytest.mark.ci
def test_a_cancelled_call_ends_its_process(client):
    number = client.send(
        "tools/call",
        name="solve",
        arguments={"workload": "mm", "sizes": {"i": 65521, "j": 65521, "k": 65521}},
    )
    children = Path(f"/proc/{client.process.pid}/task/{client.process.pid}/children")

    def running():
        return children.read_text().split()

    deadline = time.monotonic() + 60
    while not running() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert running()
    client.write({"method": "notifications/cancelled", "params": {"requestId": number}})
    while running() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not running()
    assert client.call("solve")[1]  # the server goes on


@pytest.mark.ci
def test_calls_that_run_at_the_end_of_the_input_are_answered(client):
    number = client.send("tools/call", name="explain", arguments={"result": "none.json"})
    output = client.process.communicate(timeout=60)[0]
    answers = {own.get("id"): own for own in map(json.loads, output.splitlines())}
    (said,) = answers[number]["result"]["content"]
    assert "none.json: no such file" in said["text"]
    assert client.process.returncode == 0


def test_arguments_are_the_options_of_commands():
    every = tools()
    solve = every["solve"]
    assert solve.words(
        {
            "workload": "-C[i] += A[i]",
            "sizes": {"i": 3, "j": "4"},
            "limit": ["dsp=1", "bram18k=2"],
            "two_level": True,
            "divisors_only": False,
            "gap": 0.1,
            "objective": "-latency",
        }
    ) == [
        "solve",
        "--sizes=i=3,j=4",
        "--limit=dsp=1",
        "--limit=bram18k=2",
        "--two-level",
        "--objective=-latency",
        "--gap=0.1",
        "--",
        "-C[i] += A[i]",
    ]
    schema = solve.schema
    validator = jsonschema.Draft202012Validator(schema)
    assert validator.is_valid({"workload": "mm", "sizes": {"i": 1}, "time_limit": 5})
    assert not validator.is_valid({"workload": "mm", "sizs": {"i": 1}})
    assert not validator.is_valid({"workload": "mm", "two_level": "yes"})
    assert not validator.is_valid({})
    assert all(p.get("description") for p in schema["properties"].values())
    for tool in every.values():
        assert not {"trust_results", "include_from", "scheduler"} & tool.options.keys()


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({"workload": "mm", "sizs": 1}, "did you mean sizes"),
        ({}, "workload is missing"),
        ({"workload": ["mm"]}, "workload is .*; allowed: text or a number"),
        ({"workload": "mm", "sizes": {"i": True}}, "sizes is true; allowed: text or a number"),
        ({"workload": "mm", "gap": True}, "gap is true; allowed: text or a number"),
        ({"workload": "mm", "output": "r.txt"}, "output is 'r.txt'; allowed: the name of a .json"),
        ({"workload": "mm", "output": 3}, "output is 3; allowed"),
    ],
)
def test_arguments_that_are_none_are_refused(arguments, line):
    with pytest.raises(InputError, match=line):
        tools()["solve"].words(arguments)


def test_a_server_needs_a_protocol_and_its_library(monkeypatch):
    assert "serve needs the protocol to speak; allowed: --mcp" in refused("serve")
    monkeypatch.setattr(extras, "installed", lambda *modules: False)
    assert 'needs the package mcp: pip install "ithaca[mcp]"' in refused("serve", "--mcp")


def test_long_answers_are_cut(monkeypatch):
    monkeypatch.setattr(serving, "MAX_TEXT", 20)
    with ThreadPoolExecutor(1) as pool:  # other tests may leave a running loop in this thread
        text, failed = pool.submit(asyncio.run, serving.called(["list", "platforms"])).result()
    assert not failed
    assert text[20:].startswith("\n… ")
