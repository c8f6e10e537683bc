"""Templates from strangers: each ends in one line, within limits of time, memory and output, and
reads no file outside of its folder."""

import os
import resource

import pytest

import ithaca
from ithaca.files import templates
from ithaca.files.errors import InputError
from ithaca.files.inclusions import including
from ithaca.files.timeloop_files import load_timeloop
from tests.command_line import refused, succeed
from tests.refusals import refusals

SECRET = "topsecret"

#: Files beside the template.
BESIDE = {
    "base.yaml": "a: {b: 3, t: 'x'}\n",
    "loop.yaml": "{{ include_text('loop.yaml') }}",
    "ping.yaml": "{{ include_text('pong.yaml') }}",
    "pong.yaml": "{{ include_text('ping.yaml') }}",
    "bytes.yaml": b"\xff\xfe",
    "nul.yaml": b"a\0b",
    "bad.yaml": "a: [",
    **{f"e{n}.yaml": f"{{{{ include_text('e{n + 1}.yaml') }}}}" * 30 for n in range(6)},
    "e6.yaml": "a{{ '' }}",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret.txt").write_text(SECRET)
    for name, content in BESIDE.items():
        (inside / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    (inside / "link.txt").symlink_to(tmp_path / "secret.txt")
    (inside / "up").symlink_to(tmp_path)
    os.mkfifo(inside / "pipe")
    monkeypatch.setattr(templates, "CPU_SECONDS", 1)
    monkeypatch.setattr(templates, "MEMORY", 200 << 20)
    return inside


def refusal(folder, text):
    path = folder / "file.yaml"
    path.write_text(text)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    with pytest.raises(InputError) as error:
        load_timeloop(path)
    line = str(error.value)
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < 4
    assert line.isprintable()
    assert line.startswith(str(folder))
    assert len(line) <= 610
    assert SECRET not in line
    return line


@pytest.mark.parametrize(
    ("text", "message"), refusals("formulations-spatial-front_ends", "templates_of_strangers")
)
def test_a_template_of_a_stranger_ends_in_one_line(folder, text, message):
    assert message in refusal(folder, text)


def test_what_a_template_computes_has_limits(folder):
    (folder / "file.yaml").write_text("a: {{ 'x' * 3000 }}")
    with pytest.raises(InputError, match="comes to more than 1,000 characters"):
        load_timeloop(folder / "file.yaml", max_bytes=1000)


def test_more_folders_may_be_included_by_option(folder):
    for name in ("../secret.txt", "up/secret.txt", str(folder.parent / "secret.txt")):
        (folder / "file.yaml").write_text(f"a: {{{{ include_text('{name}') }}}}")
        with pytest.raises(InputError):
            load_timeloop(folder / "file.yaml")
        with including(folder.parent):
            assert load_timeloop(folder / "file.yaml") == {"a": SECRET}
    (folder / "file.yaml").write_text("a: {{ include_text('secret.txt') }}")
    with including(folder.parent):
        assert load_timeloop(folder / "file.yaml") == {"a": SECRET}
    (folder / "file.yaml").write_text("a: {{ include_text('../secret.txt') }}")
    with including([folder]), pytest.raises(InputError, match="outside of"):
        load_timeloop(folder / "file.yaml")
    for other in ("nowhere", "1x=2", "=a", "a-b=3"):
        with pytest.raises(InputError, match="allowed: a folder, or NAME=VALUE"), including(other):
            pass


def test_variables_that_a_program_sets_are_given_by_option(folder):
    """`top.yaml.jinja2` of public designs: its program sets ``architecture``."""
    (folder / "top.yaml.jinja2").write_text("a: {{ include(architecture ~ '.yaml', 'a') }}\n")
    with pytest.raises(InputError, match="'architecture' is undefined"):
        load_timeloop(folder / "top.yaml.jinja2")
    with including("architecture=base"):
        assert load_timeloop(folder / "top.yaml.jinja2") == {"a": {"b": 3, "t": "x"}}
    with including("architecture=../secret"), pytest.raises(InputError, match="outside of"):
        load_timeloop(folder / "top.yaml.jinja2")


def test_lists_of_several_files_are_included_as_one(folder):
    (folder / "parts").mkdir()
    for name, part in (("b", "[3]"), ("a", "[1, {x: 2}]")):
        (folder / "parts" / f"{name}.yaml").write_text(f"c: {{d: {part}}}\n")
    (folder / "file.yaml").write_text("a: {{ include_all('parts/*.yaml', 'c.d') }}")
    assert load_timeloop(folder / "file.yaml") == {"a": [1, {"x": 2}, 3]}


def test_commands_and_functions_take_the_option(folder):
    (folder.parent / "nest.yaml").write_text(
        "name: mine\neinsum: ik,kj->ij\nextents: {i: 4, j: 4, k: 8}\n"
    )
    (folder / "own.yaml").write_text("{{ include_text('../nest.yaml') }}")
    asked = ["solve", "own.yaml", "--dataflow", "i,j", "--divisors-only"]
    assert "--include-from" in refused(*asked, cwd=folder)
    assert "mine" in succeed(*asked, "--include-from", "..", cwd=folder).stdout
    options = {"dataflow": "i,j", "divisors_only": True}
    with pytest.raises(InputError, match="include_from names"):
        ithaca.solve(folder / "own.yaml", **options)
    answer = ithaca.solve(folder / "own.yaml", include_from=folder.parent, **options)
    assert answer.status == "optimal"


def test_files_that_are_no_templates_need_no_process(folder, monkeypatch):
    monkeypatch.setattr("subprocess.run", None)
    assert load_timeloop(folder / "base.yaml") == {"a": {"b": 3, "t": "x"}}


def test_what_files_beside_say_is_included(folder):
    (folder / "more").mkdir()
    (folder / "more" / "deep.yaml").write_text('c: "q\\"\\\\"\n')
    (folder / "file.yaml").write_text(
        "{{ add_to_path('more') }}{% if path_exists('deep.yaml') and not path_exists('none') %}\n"
        "d: {{ include('deep.yaml', 'c') }}\n{% endif %}\n"
        "e: {{ include('base.yaml', 'a') }}\n{{ include_text(find_path('deep.yaml')) }}"
    )
    own = 'q"\\'
    assert load_timeloop(folder / "file.yaml") == {"d": own, "e": {"b": 3, "t": "x"}, "c": own}
