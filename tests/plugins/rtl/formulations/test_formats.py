"""Formats of tensors: cycles as simulated; values and hardware are of one type."""

import json

import pytest

from tests.command_line import refused, succeed


def test_cycles_are_as_simulated(tmp_path):
    file = tmp_path / "r.json"
    command = ("solve", "mm", "-s", "i=2,j=4,k=8", "--dataflow", "i,j", "--limit", "dsp=8")
    succeed(*command, "--format", "W=int4,A=int8", "-o", file)
    document = json.loads(file.read_text())
    simulated = json.loads(succeed("simulate", file, "--json").stdout)["simulation"]
    assert simulated["cycles"] == document["objective"]["value"]
    assert "format A=int8,B=int4 is none that values" in refused("simulate", file, "--check-values")
    line = refused("export", file, "--to", "rtl", "-o", tmp_path / "rtl")
    assert "format A=int8,B=int4; allowed: one type of all tensors" in line


@pytest.mark.ci
def test_ports_that_several_tensors_share(tmp_path):
    """Bytes on channels are those of each tensor's own format."""
    file = tmp_path / "r.json"
    command = ("solve", "mv", "-s", "i=8,j=64", "--platform", "u280", "--ports", "2")
    succeed(
        *command, "--dataflow", "i", "--limit", "dsp=16", "--format", "A=int4,x=int8", "-o", file
    )
    document = json.loads(file.read_text())
    simulated = json.loads(succeed("simulate", file, "--json").stdout)["simulation"]
    assert simulated["cycles"] == document["objective"]["value"]
