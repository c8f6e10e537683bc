"""Scripts for boards, as far as can be said without one: tcl parses, the kernel's description is that
of the SystemVerilog, and the host finds right and wrong results of an overlay that is not there."""

import json
import re
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from ithaca.files.writing import write_folder
from ithaca.plugins.rtl.exports.folder import rtl_tool
from ithaca.plugins.rtl.exports.host import run, vector
from tests.plugins.rtl.exports.cases import configuration, random_case

tkinter = pytest.importorskip("tkinter", reason="tcl is read by Python's own")


@pytest.fixture
def files(folder):
    """The files of an array with AXI4 masters, which are written, too."""
    chosen, sum_bits = configuration("mm", "ij", 1)
    text = dict(rtl_tool(sum_bits, "axi4").export(chosen))
    write_folder(folder, text)
    return text


def test_scripts_parse_and_say_that_they_are_not_tested(files):
    interpreter = tkinter.Tcl()
    scripts = [name for name in files if name.endswith(".tcl")]
    assert sorted(scripts) == ["board/package.tcl", "board/project.tcl", "synthesize.tcl"]
    for name in scripts:
        assert int(interpreter.eval(f"info complete {{{files[name]}\n}}"))
    for name in [*scripts, "board/kernel.xml", "board/host.py"]:
        assert "Not tested" in files[name][:400]
        assert "0BSD" in files[name][:400]


@pytest.mark.parametrize(
    ("masters", "top", "clock"), [(True, "array_axi4", "ap_clk"), (False, "array", "clk")]
)
def test_scripts_name_files_and_tops_that_are_there(masters, top, clock, files, folder):
    if not masters:  # the files of masters stay behind
        chosen, sum_bits = configuration("mm", "ij", 1)
        write_folder(folder, rtl_tool(sum_bits).export(chosen))
    calls = []
    for name in ("synthesize.tcl", "board/project.tcl", "board/package.tcl"):
        interpreter = tkinter.Tcl()

        def unknown(*words):
            calls.append(words)
            return "m_axi_A" if words[0] == "get_property" else "x"

        interpreter.createcommand("unknown", unknown)
        interpreter.createcommand("exit", unknown)
        interpreter.call("set", "argv", "")
        interpreter.call("interp", "alias", "", "puts", "", "unknown")
        interpreter.eval(f"source {{{folder / name}}}")
        if not masters:
            break
    read = {
        path
        for call in calls
        if call[0] in ("read_verilog", "add_files")
        for path in interpreter.splitlist(call[-1])
    }
    assert {str(folder / "array.sv"), str(folder / "library" / "ithaca_walk.sv")} <= read
    assert (str(folder / "axi4" / "ithaca_reader.sv") in read) == masters
    synthesis = next(call for call in calls if call[0] == "synth_design")
    assert synthesis[synthesis.index("-top") + 1] == top
    assert ("get_ports", clock) in calls
    if masters:
        assert f"module {top} " in files["array_axi4.sv"]
        assert (
            "ipx::associate_bus_interfaces",
            "-busif",
            "m_axi_A",
            "-clock",
            "ap_clk",
            "x",
        ) in calls


def test_the_kernel_is_that_of_the_hardware(files):
    text, root = files["array_axi4.sv"], ElementTree.fromstring(files["board/kernel.xml"])
    (kernel,) = root.findall("kernel")
    assert f"module {kernel.get('name')} #(" in text
    places = {name: int(at, 16) for name, at in re.findall(r"(\w+)_ADDRESS = 12'h(\w+);", text)}
    arguments = {arg.get("name"): int(arg.get("offset", ""), 16) for arg in root.iter("arg")}
    assert arguments == places == {"A": 0x10, "B": 0x1C, "C": 0x28}
    widths = dict(re.findall(r"parameter integer (\w+)_DATA = (\d+)", text))
    ports = {port.get("name", ""): port.get("dataWidth") for port in root.iter("port")}
    assert ports == {
        "s_axi_control": "32",
        **{f"m_axi_{name}": width for name, width in widths.items()},
    }
    for arg in root.iter("arg"):
        assert arg.get("port") == f"m_axi_{arg.get('name')}"
    for port in ports:
        assert re.search(rf"\b{port}_(ar|aw)valid\b", text)
    stated = json.loads(files["expected.json"])["rtl"]
    assert {tensor["name"]: tensor["register"] for tensor in stated["tensors"]} == places
    assert f"ERRORS = 12'h{stated['errors']:03x};" in text


def test_packages_of_many_bits_are_several_numbers(folder):
    chosen, sum_bits = random_case(25, "mm", blocks=True)  # B=3/4 of fp32: 16 bytes
    files = rtl_tool(sum_bits, "axi4").export(chosen)
    write_folder(folder, files)
    tensor = json.loads(files["expected.json"])["rtl"]["tensors"][1]
    values = vector(folder, tensor)
    assert (tensor["name"], tensor["bits"], values.dtype) == ("B", 128, np.uint64)
    assert values.shape == (*tensor["shape"], 2)
    first = int(files["vectors/B.hex"].split()[0], 16)
    assert values.ravel()[:2].tolist() == [first % 2**64, first >> 64]


class Buffer(np.ndarray[Any, Any]):
    """Memory that a host allocates."""

    device_address: int

    def sync_to_device(self):
        """Do nothing: no data are anywhere else."""

    sync_from_device = sync_to_device


class Kernel:
    """Registers, and what the array would compute."""

    def __init__(self, folder, compute):
        self.registers = dict.fromkeys(range(0, 0x40, 4), 0)
        self.buffers = []
        self.compute = compute

    def allocate(self, shape, dtype):
        """A buffer beyond 4 GiB."""
        buffer = np.full(shape, 1, dtype).view(Buffer)
        buffer.device_address = (len(self.buffers) + 1 << 32) + 0x1000
        self.buffers.append(buffer)
        return buffer

    def write(self, register, value):
        """Run where that is asked for."""
        assert 0 <= value < 1 << 32
        self.registers[register] = value
        if register == 0:
            for number, buffer in enumerate(self.buffers):
                low, high = (self.registers[0x10 + 12 * number + half] for half in (0, 4))
                assert buffer.device_address == low + (high << 32)
            self.buffers[-1][:] = self.compute(self.buffers)
            self.registers[0] = 0xE

    def read(self, register):
        """A register."""
        return self.registers[register]


def product(buffers):
    a, b = (each.view(np.ndarray).view(np.int8).astype(np.int32) for each in buffers[:2])
    return (a @ b.T).view(np.uint32)


def test_the_host_compares_with_numpy(files, folder):
    compile(files["board/host.py"], "host.py", "exec")
    kernel = Kernel(folder, product)
    assert run(kernel, kernel.allocate, folder) == 0
    kernel = Kernel(folder, lambda buffers: product(buffers) + np.eye(13, 15, dtype=np.uint32))
    assert run(kernel, kernel.allocate, folder) == 13
    assert vector(folder, {"name": "A", "bits": 8, "shape": [13, 17]}).dtype == np.uint8


def test_the_host_says_what_goes_wrong(files, folder):
    kernel = Kernel(folder, product)
    kernel.registers[0x34] = 2
    with pytest.raises(SystemExit, match="memory answered with an error: tensors 10"):
        run(kernel, kernel.allocate, folder)
    kernel = Kernel(folder, product)
    kernel.read = lambda register: 0
    with pytest.raises(SystemExit, match="the array is not done after 0 s"):
        run(kernel, kernel.allocate, folder, seconds=0)
