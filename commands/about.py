"""What ``--help`` of each command says beside its options: what it does, and examples."""

from __future__ import annotations

from collections.abc import Mapping

#: By command: what it does, and examples, which run one after the other in an empty folder.
ABOUT: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "solve": (
        "Find the best configuration of a workload, and prove it.",
        (
            "ithaca solve mm -s i=64,j=64,k=64 --limit dsp=400 -o mm.json",
            "ithaca solve 'C[i,j] += A[i,k] * B[k,j]' -s i=32,j=32,k=32",
            "ithaca solve conv2d -s o=16,r=8,c=8,i=8,s=2 --dtype int8 --platform zcu102",
        ),
    ),
    "network": (
        "Solve every layer of a network, alone or on what layers share, and prove the total.",
        (
            "ithaca network vgg16 --layers fc8 --dataflow i,j -o vgg16.json",
            "ithaca network bert-base -s sequence=16,layers=1 --layers mm --gap 0.3",
        ),
    ),
    "whatif": (
        "Prove the best configuration over a grid of sizes, limits, platforms and so on.",
        (
            "ithaca whatif mm -s i=64,j=64,k=64 --dataflow i,j --vary dsp=100,200,400",
            "ithaca whatif mm -s i=64,j=64,k=64 --dataflow i,j --marginal 5",
        ),
    ),
    "pareto": (
        "Compute the Pareto front of several objectives, every point proven.",
        ("ithaca pareto mm -s i=32,j=32,k=32 --objectives latency,dsp --limit dsp=40",),
    ),
    "grid": (
        "Evaluate the cost model exactly around the best configuration of a result.",
        ("ithaca grid mm.json --around 4 -o grid.nc",),
    ),
    "evaluate": (
        "Compute all metrics of given configurations afresh, by the exact reference.",
        ("ithaca evaluate mm.json", "ithaca evaluate mm --points mm.json --table points.csv"),
    ),
    "simulate": (
        "Run the best configuration of a result, every word of it, and say where the cycles go.",
        ("ithaca simulate mm.json",),
    ),
    "verify": (
        "Check a result anew: every value by the exact reference, every proof by another engine.",
        ("ithaca verify mm.json", "ithaca verify vgg16.json --time-limit 20"),
    ),
    "explain": (
        "Explain a result: what limits it, what it could reach, and what to change first; of a network, which layers dominate.",
        ("ithaca explain mm.json --quick", "ithaca explain vgg16.json", "ithaca explain vgg16.json --layer fc8 --quick"),
    ),
    "report": (
        "Report a result as one self-contained page: the answer, its proof, what limits it, the array drawn.",
        ("ithaca report mm.json -o mm.html --quick",),
    ),
    "export": (
        "Export the best configuration of a result for another tool.",
        ("ithaca export mm.json --to autosa -o mm-autosa", "ithaca export mm.json --to timeloop -o mm-timeloop"),
    ),
    "seed": (
        "Write diverse, feasible configurations as a start population for another search tool.",
        (
            "ithaca seed mm.json --for optuna -o seeds.py",
            "ithaca seed mm.json --for csv --count 20 -o seeds.csv",
            "ithaca seed vgg16.json --for csv -o seeds",
        ),
    ),
    "refine": (
        "Improve the configurations of a result by evolution; what is proven optimal stays as it is.",
        ("ithaca refine mm.json --samples 1000 -o refined.json",),
    ),
    "experiment": (
        "Remake a table or figure of the Odyssey paper against proven optima: table (CSV), plot, claims (JSON).",
        ("ithaca experiment --list", "ithaca experiment table-3 --quick -o tables"),
    ),
    "list": (
        "List workloads, networks, platforms, or the designs of a workload.",
        ("ithaca list workloads", "ithaca list networks", "ithaca list designs mm"),
    ),
}


def examples(name: str) -> str:
    """The examples of a command as its help shows them."""
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in ABOUT[name][1])])
