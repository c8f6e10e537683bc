"""Options of all that is asked of networks: which phase, which layers, and what these share; the
engines of studies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from os import PathLike
from typing import Annotated

from typer import Argument, Option

from ithaca.commands.api.keywords import FamilyOptions, StatedOptions
from ithaca.commands.api.options import Fuse, Keeping, LayerPatterns
from ithaca.commands.api.parsing import parse_method
from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.files.words import parse_choice, parse_integer, several
from ithaca.formulations.problem import Objective
from ithaca.formulations.question import Minimise, Question
from ithaca.studies.network.modes import MODES
from ithaca.studies.network.modes import mode as find_mode
from ithaca.studies.network.problems import only_layers
from ithaca.studies.network.result import ARRAY_MODES
from ithaca.workloads.formats import FormatWords, network_with_formats
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.networks.find import find_network
from ithaca.workloads.networks.network import Network
from ithaca.workloads.networks.several import (
    PartText,
    joined,
    read_part,
    stated_sizes,
    with_weights,
)

NestOrNetwork = Annotated[
    str | PathLike[str] | LoopNest,
    Argument(
        metavar="WORKLOAD|NETWORK",
        help="A loop nest (ithaca list workloads, a file, 'C[i,j] += A[i,k] * B[k,j]'), or a "
        "network (ithaca list networks, a file).",
    ),
]


@dataclass(frozen=True)
class NetworkOptions:
    """Options of networks."""

    phase: Annotated[
        str | None,
        Option("--phase", help="Phase of a language model: prefill or decode. Default: its first."),
    ] = None
    batch: Annotated[
        int | None, Option("--batch", metavar="N", help="Sequences or images at a time.")
    ] = None
    tokens: Annotated[
        int | None, Option("--tokens", metavar="N", help="New tokens of each sequence.")
    ] = None
    context: Annotated[
        int | None,
        Option("--context", metavar="N", help="Tokens that are attended to, new ones included."),
    ] = None
    experts: Annotated[
        str | None,
        Option(
            "--experts",
            metavar="ROWS",
            help="How tokens spread over experts: uniform, skewed, or those of each, e.g. 9,5,2.",
        ),
    ] = None
    elementwise: Annotated[
        bool,
        Option("--elementwise", help="Count a model's softmax, norms and the like as layers, too."),
    ] = False
    layers: LayerPatterns = None
    mode: Annotated[
        str,
        Option(
            "--mode",
            help=f"What layers share: {' or '.join((', '.join([*MODES][:-1]), [*MODES][-1]))}.",
        ),
    ] = "per-layer"
    arrays: Annotated[
        int | None, Option("--arrays", metavar="N", help="Most arrays that share the budget.")
    ] = None
    minimise: Annotated[
        str | None,
        Option(
            "--minimise",
            metavar="slowest|total",
            help="(several arrays) Minimise the slowest array, or the total.",
        ),
    ] = None
    fuse: Fuse = False

    @property
    def sizes(self) -> dict[str, int]:
        """The parameters of networks among the options, as far as they are stated."""
        own = {"batch": self.batch, "tokens": self.tokens, "context": self.context}
        return {name: value for name, value in own.items() if value is not None}

    def network(
        self,
        source: object,
        sizes: Mapping[str, int],
        phase: str | None = None,
        formats: FormatWords | None = None,
        weights: str | Sequence[object] | None = None,
    ) -> Network:
        """The network, with the layers that are asked for.

        Parameters
        ----------
        source : object
            Its name or file, or those of several networks that one machine runs.
        sizes : mapping of str to int
            Parameters to replace.
        phase : str, optional
            Another phase than the options state.
        formats : mapping of str to str, sequence of str or str, optional
            Formats of tensors, by name or kind.
        weights : str or sequence of object, optional
            How often each of several networks runs.
        """
        parts = [
            read_part(str(each))
            for each in (source if isinstance(source, list | tuple) else [source])
        ]
        if not parts:
            raise InputError("no network is named; allowed: one or more")
        parts = parts if weights is None else with_weights(parts, weights)
        chosen = phase or self.phase
        whole = [(part, self._part(part, sizes, chosen, formats)) for part in parts]
        one = whole[0][1] if len(whole) == 1 and parts[0].runs == 1 else joined(whole)
        return only_layers(one, several(self.layers))

    def _part(
        self,
        part: PartText,
        sizes: Mapping[str, int],
        phase: str | None,
        formats: FormatWords | None,
    ) -> Network:
        """One network."""
        if part.phase is not None and phase is not None:
            raise InputError(
                f"network {quoted(part.label)} has a phase, and so has --phase; allowed: one of "
                "them"
            )
        network = find_network(
            part.source,
            stated_sizes(part, sizes),
            phase=part.phase or phase,
            experts=self.experts,
            elementwise=self.elementwise,
        )
        return network_with_formats(network, formats, "--format") if formats else network

    def question(self, family: FamilyOptions, objective: str | Objective | None) -> Question:
        """The question about networks.

        Raises `InputError` if options do not go together.
        """
        count, what = _sharing(self.mode, self.arrays, self.minimise)
        question = family.question(None, objective, arrays=count, minimise=what)
        if self.fuse and question.unfused:
            raise InputError(f"--fuse does not go with {question.unfused}")
        if self.elementwise and question.multiplies:
            raise InputError(
                f"--elementwise does not go with {question.multiplies}, which run products with a "
                "reduction; allowed with --arch"
            )
        return question

    def check_mode(self, mode: str, method: str | None, keeping: Keeping) -> None:
        """Refuse a mode that there is not, or that could only ignore other options.

        Parameters
        ----------
        mode : str
            The mode.
        method : str, optional
            The engine that was named.
        keeping : Keeping
            Where results are kept.
        """
        find_mode(mode, fuse=self.fuse)
        if mode in ARRAY_MODES:
            _check_one_search(mode, method, keeping.results)


def refuse_networks(workload: object, stated: StatedOptions) -> None:
    """Refuse options that only networks have, but for sizes, where a loop nest is asked about."""
    own = {f"--{each.name}" for each in fields(NetworkOptions)} - {
        *("--batch", "--tokens", "--context")
    }
    if other := min(stated & own, default=None):
        what = f"{quoted(str(workload))}, a loop nest"
        raise InputError(f"{other} does not go with {what}; allowed: with networks")


def _check_one_search(mode_name: str, method: str | None, results: object) -> None:
    """Refuse options that a mode could only ignore."""
    used = {
        "--method": method not in (None, "exact"),
        "--results": results is not None,
    }
    for option, wanted in used.items():
        if wanted:
            raise InputError(
                f"{option} does not go with --mode {mode_name}, which is "
                "one exact search over all layers"
            )


def _sharing(mode_name: str, arrays: int | None, minimise: str | None) -> tuple[int, Minimise]:
    """The number of arrays that share the budget, and the metric of theirs that is minimised."""
    own = ARRAY_MODES.get(mode_name)
    if own is None or not own.several:
        for option, text in (("--arrays", arrays), ("--minimise", minimise)):
            if text is not None:
                allowed = ", ".join(name for name, each in ARRAY_MODES.items() if each.several)
                raise InputError(
                    f"{option} does not go with --mode {mode_name}; "
                    f"allowed{' with' * bool(allowed)}: {allowed or f'without {option}'}"
                )
        return 1, Minimise.TOTAL
    if arrays is None:
        raise InputError(f"--mode {mode_name} needs --arrays N, how many arrays share the budget")
    what = parse_choice(
        "--minimise", minimise or Minimise.SLOWEST.value, [m.value for m in Minimise]
    )
    return parse_integer("--arrays", arrays, least=1), Minimise(what)


def parse_steady_method(name: object, time_limit: object) -> str:
    """Look up an engine; unless one is named the one that finds the same in every run, or under a
    time limit the most."""
    return parse_method(name or ("exact" if time_limit is None else "auto"))


def parse_proving_method(name: object) -> str:
    """Look up an engine that proves optimality."""
    from ithaca.solver.engines import Method, proving

    allowed = [Method.AUTO, *proving(), Method.STAGED]
    return parse_choice("--method", name, allowed, ", which prove what they find")
