"""``ithaca whatif`` and ``ithaca pareto`` as a user meets them."""

import json
import signal
import time

import xarray as xr

from tests.command_line import begin, ithaca, succeed

MM = ("mm", "-s", "i=32,j=24,k=16")
TWO = ("--dataflow", "i,k")


def test_limits_that_vary_may_be_shares_or_lifted(tmp_path):
    vary = ("--vary", "bram18k=70%,50%", "--vary", "bandwidth=5,none")
    done = succeed(
        "whatif", *MM, *TWO, "--platform", "zcu102", *vary, "-o", tmp_path / "s.nc", "--json"
    )
    points = json.loads(done.stdout)["points"]
    assert [point["at"]["bandwidth_limit"] for point in points] == [5, "none"] * 2
    totals = {"70%": 1276.8, "50%": 912}  # of 1,824 blocks (AMD DS891)
    assert [point["limits"]["bram18k"] for point in points] == [
        totals[point["at"]["bram18k_limit"]] for point in points
    ]
    assert ["bandwidth" in point["limits"] for point in points] == [True, False] * 2
    assert list(xr.load_dataset(tmp_path / "s.nc").bandwidth_limit.values) == ["5", "none"]


def test_a_regime_holds_for_every_platform_that_is_varied():
    words = ("--dataflow", "i,j", "--edition", "cycle", "--json")
    best = {}
    for regime in ("rtl", "hls"):
        varied = json.loads(
            ithaca(
                "whatif", *MM, *words, "--vary", "platform=u250,zcu102", "--regime", regime
            ).stdout
        )
        best[regime] = [point["objective"]["value"] for point in varied["points"]]
        alone = json.loads(
            ithaca("solve", *MM, *words, "--platform", "zcu102", "--regime", regime).stdout
        )
        assert best[regime][1] == alone["objective"]["value"]
    assert best["rtl"] != best["hls"]
    words = ("--dataflow", "i,j", "--vary", "edition=exact,cycle", "--regime", "hls", "--json")
    points = json.loads(ithaca("whatif", *MM, *words).stdout)["points"]
    assert [point["at"]["edition"] for point in points] == ["exact", "cycle"]
    assert points[1]["objective"]["value"] == best["hls"][0]


def test_whatif_varies_everything_it_says():
    vary = (
        "platform=zcu102",
        "dtype=int16",
        "edition=odyssey",
        "objective=latency,max(latency, dsp)",
    )
    vary += ("dataflow=i,j:i,k", "permutation=C", "size.i=4", "limit.latency*dsp=1e6")
    done = succeed(
        "whatif", *(word for v in vary for word in ("--vary", v)), "mm", "-s", "j=4,k=8", "--json"
    )
    document = json.loads(done.stdout)
    assert [a["name"] for a in document["axes"]][-2:] == ["i", "latency*dsp_limit"]
    assert len(document["points"]) == 4
    for point in document["points"]:
        at, best = point["at"], point["best"]
        assert point["certificate"]["status"] == "optimal"
        assert ",".join(best["dataflow"]) == at["dataflow"]
        assert point["objective"]["expression"] == at["objective"]
        assert best["metrics"]["latency"] * best["metrics"]["dsp"] <= 1e6
        if at["objective"] == "latency":
            assert point["objective"]["value"] == best["metrics"]["latency"]


def test_marginal_values_alone():
    """Simulated, the optima take 567 cycles and 445."""
    done = succeed("whatif", *MM, *TWO, "--limit", "dsp=155", "--marginal", "5")
    assert done.stdout.splitlines()[-2:] == [
        "5 % more dsp (155 → 162.75 blocks) lowers latency by 21.5 %, from 567 to 445 cycles",
        "5 % more bram18k (3,763.2 → 3,951.36 blocks) buys nothing, latency stays at 567 cycles",
    ]


def test_an_infeasible_study_exits_1_and_says_why():
    done = ithaca("whatif", *MM, *TWO, "--vary", "dsp=3,4", "--json")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "limit dsp = 3 cannot be met" in done.stderr
    points = json.loads(done.stdout)["points"]
    assert [p["best"] for p in points] == [None, None]
    assert all("is 5" in p["shortfall"] for p in points)


def test_ctrl_c_ends_a_study_with_what_it_has_and_the_next_run_goes_on(tmp_path):
    kept = tmp_path / "kept"
    arguments = [
        "whatif",
        "mm",
        "-s",
        "j=24,k=16",
        *TWO,
        "--vary",
        "i=" + ",".join(map(str, range(16, 28))),
    ]
    arguments += ["--json", "--results", str(kept)]
    with begin(*arguments) as process:
        while len(list(kept.glob("*.json"))) < 3:
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 0
    assert errors == ""
    part = json.loads(output)
    assert part["complete"] is False
    reached = [p for p in part["points"] if p["certificate"]["status"] == "optimal"]
    assert 3 <= len(reached) < 12
    names = {path.name: path.stat().st_mtime_ns for path in kept.iterdir()}
    whole = json.loads(ithaca(*arguments).stdout)
    assert whole["complete"] is True
    assert [p for p in whole["points"] if p in reached] == reached
    assert all((kept / name).stat().st_mtime_ns == changed for name, changed in names.items())


def test_an_infeasible_or_hasty_front_exits_1():
    done = ithaca("pareto", *MM, *TWO, "--objectives", "latency,dsp", "--limit", "dsp=4")
    assert done.returncode == 1
    assert "limit dsp = 4 cannot be met" in done.stderr
    done = ithaca("pareto", *MM, *TWO, "--objectives", "latency,dsp", "--time-limit", "1e-9")
    assert done.returncode == 1
    assert "nothing proven" in done.stderr
