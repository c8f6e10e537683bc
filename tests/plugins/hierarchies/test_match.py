"""``ithaca match`` and `ithaca.match`: what is listed, written, read back and refused."""

import json

import pytest

import ithaca as package
from tests.command_line import ithaca, succeed


def test_choices_are_listed_with_loops_padding_calls_and_what_only_the_published_count_has():
    done = succeed("match", "conv2d", "-s", "o=512,r=56,c=56,i=512")
    assert "4 of 9 leaves: 126 sets; 4 legal choices, 6 by the published count" in done.stdout
    assert (
        "│ 1 │ c 56 → 64 │ o 512 │    i 512 │ m=cin, n=w, l=cout │  2,064,384 │   12.50 % │"
        in done.stdout
    )
    assert "refused    i=r, j=o, k=p: r and p are added in cin's subscript r+p" in done.stdout


def test_a_workload_with_fewer_leaves_than_the_intrinsic_is_said_to_have_them():
    done = succeed("match", "mv", "-s", "i=64,j=64", "--partial")
    assert done.stdout.splitlines()[2] == "3 leaves, of the intrinsic 4; 1 legal choice"


def test_the_document_says_all_of_every_choice():
    words = (
        "match",
        "conv2d",
        "-s",
        "o=64,r=56,c=56,i=64",
        "--intrinsic-sizes",
        "k=1",
        "--tile",
        "o=32,c=32,i=8",
        "--json",
    )
    document = json.loads(ithaca(*words).stdout)
    assert document["schema"] == "ithaca/2"
    assert (document["leaves"], document["sets_of_leaves"], document["published"]) == (9, 126, 6)
    assert document["intrinsic"] == {
        "name": "gemm",
        "statement": "l[i][j] += m[i][k] * n[k][j]",
        "sizes": {"i": 16, "j": 16, "k": 1},
    }
    (choice,) = (
        each for each in document["choices"] if each["loops"] == {"i": "c", "j": "o", "k": "i"}
    )
    assert choice == {
        "stage": "cout[r][c][o] += cin[r+p][c+q][i] * w[o][p][q][i]",
        "loops": {"i": "c", "j": "o", "k": "i"},
        "operands": {"m": "cin", "n": "w", "l": "cout"},
        "padded": {"c": 64, "o": 64, "i": 64},
        "calls": 4 * 4 * 64 * 56 * 9,
        "subproblems": 16_128,
        "calls_each": 32,
        "redundant": 0.125,
        "runs": 48,
    }
    assert [each["because"] for each in document["refused"]] == [
        "c and q are added in cin's subscript c+q",
        "r and p are added in cin's subscript r+p",
    ]


@pytest.mark.parametrize(
    "words",
    [
        ("conv2d", "-s", "o=64,r=56,c=56,i=64", "--intrinsic", "conv2d", "--tile", "r=7"),
        (
            "C[i,j,k] += A[i,j,l] * B[l,k]",
            "-s",
            "i=8,j=8,k=8,l=8",
            "--intrinsic",
            "ij,j->i",
            "--intrinsic-sizes",
            "i=4,j=4",
        ),
        ("depthwise_conv2d", "-s", "o=144,r=56,c=56", "--partial"),
    ],
    ids=["tiled", "own", "partial"],
)
def test_a_file_is_read_back_and_one_that_was_edited_is_refused(words, tmp_path):
    path = tmp_path / "matches.json"
    done = succeed("match", *words, "-o", path)
    found = package.load(path)
    document = json.loads(path.read_text())
    assert found.document == document
    document["choices"][0]["calls"] += 1
    path.write_text(json.dumps(document))
    with pytest.raises(package.InputError, match="choices is not what is found anew"):
        package.load(path)
    done = ithaca("report", path, "-o", tmp_path / "page.html")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_python_and_its_table():
    found = package.match("ttm", intrinsic="gemm", intrinsic_sizes={"i": 8}, i=16, j=64, k=9, l=9)
    assert len(found.choices) == 4  # the intrinsic's i and j differ: operands may be exchanged
    frame = found.to_dataframe()
    assert list(frame.columns) == [
        "stage",
        "loops.i",
        "loops.j",
        "loops.k",
        "calls",
        "redundant",
        "runs",
    ]
    assert repr(found) == "<Matches: ttm (i=16, j=64, k=9, l=9) on gemm: 4 choices>"


def test_without_a_match_the_command_says_so():
    sizes = ("-s", "o=144,r=56,c=56")
    done = ithaca("match", "depthwise_conv2d", *sizes)
    assert done.returncode == 1
    assert done.stderr.startswith("no match: cout[r][c][o] +=")
    assert "idle" in ithaca("match", "depthwise_conv2d", *sizes, "--partial").stdout
