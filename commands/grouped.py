"""Help of commands in groups: what is asked, its budget, the search, the output; what only some
questions need is shown by ``--help-all``."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

from typer import Context, Exit, echo
from typer.core import TyperCommand

from ithaca.commands.api.keywords import Declared
from ithaca.formulations.families import QUESTION_KINDS
from ithaca.formulations.question_kind import RARE

ARGUMENTS, QUESTION, BUDGET = "Arguments", "Question", "Budget"
SEARCH, OUTPUT, MODELS = "Search", "Output", "Published models"

#: Options by group, of all commands; others are of the question.
GROUPS = {
    BUDGET: {"platform", "dtype", "limit", "memory"},
    SEARCH: {
        *("method", "time_limit", "threads", "gap", "start", "trials", "samples", "max_points"),
        *("all_designs", "mode"),
    },
    OUTPUT: {
        *("output", "table", "plot", "as_json", "printed", "verbose", "loops", "quick", "trace"),
        "vcd",
    },
    MODELS: {"phase", "batch", "tokens", "context", "experts", "elementwise", "weights"},
    RARE: {
        *("descriptor", "prove_with", "seed", "scheduler", "include_from", "recheck"),
        *("results", "trust_results", "arrays", "minimise", "compare", "problem"),
    },
}

#: The parameter that has the options of networks where loop nests may be asked about, too.
OF_NETWORKS = "networks"

#: Options of families that are shown with the question, whichever it is of.
SHOWN = {"dataflow", "require", "metric", "arch"}

#: The groups that are always shown, in order.
FIRST = {group: n for n, group in enumerate((ARGUMENTS, QUESTION, BUDGET, SEARCH, OUTPUT))}

#: A command of no more options shows all.
MANY = 24

#: The option that shows all, in Python; what a context has then.
HELP_ALL, ALL = "help_all", "ithaca.all"

#: The type that follows the name of an argument.
_TYPE = re.compile(r" <[^>]*>$")

#: Further spellings of an option, which are taken, and not shown.
_OTHER_WORDS = re.compile(r"(?<=\w), --[\w-]+")

#: A hyphen where no line may end, so that names of modes and options stay whole.
_KEPT = "\u2011"

#: Attribute of an option of typer that names its group.
PANEL = "rich_help_panel"


def group_of(option: Declared) -> str:
    """The group that an option stands in."""
    if panel := getattr(option.info, PANEL, None):
        return str(panel)
    if option.name == "price" or (
        option.group == OF_NETWORKS and option.name not in GROUPS[MODELS]
    ):
        return OF_NETWORKS.capitalize()
    for group, names in GROUPS.items():
        if option.name in names:
            return group
    kinds = [kind for kind in QUESTION_KINDS.values() if option.name in kind.option_names]
    if option.group != "family" or option.name in SHOWN or not kinds:
        return QUESTION
    return kinds[0].speaks_of.capitalize()


def show_all(context: Context, value: bool) -> None:
    """Print the help with all options, and end, where ``--help-all`` is given."""
    if value:
        context.meta[ALL] = True
        echo(context.get_help())
        raise Exit


class GroupedCommand(TyperCommand):
    """A command whose help has its options in groups."""

    def get_help(self, ctx: Any) -> str:
        """The help as one text."""
        return super().get_help(ctx).replace(_KEPT, "-")

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words; lines say what is missing, and of which option strays are."""
        try:
            return super().parse_args(ctx, [*args])
        except Exception as error:
            from ithaca.commands.strays import of_missing, of_strays

            taken = next((p for p in self.params if _heading(p) == ARGUMENTS), None)
            if missing := getattr(error, "param", None):
                name = missing.metavar if _heading(missing) == ARGUMENTS else missing.opts[-1]
                raise of_missing(name, _words(missing), () if taken else args) from None
            takes = _words(taken) if taken else ""
            if line := of_strays(error, self.params, str(self.name), takes):
                raise line from None
            raise

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, and options group by group."""
        groups: dict[str, list[tuple[str, str]]] = defaultdict(list)
        parameters = {parameter.name: parameter for parameter in self.get_params(ctx)}
        many = parameters.pop(HELP_ALL, None) is not None and ALL not in ctx.meta
        for parameter in parameters.values():
            if (record := parameter.get_help_record(ctx)) is not None:
                name, text = record
                spelled = _OTHER_WORDS.sub("", name) if name.startswith("--") else name
                groups[_heading(parameter)].append(
                    (_TYPE.sub("", spelled), text.replace("-", _KEPT))
                )
        hidden = groups.keys() - FIRST if many else set()
        last = len(FIRST)
        for group in sorted(groups, key=lambda g: FIRST.get(g, last + (g == RARE))):
            if group in hidden:
                continue
            with formatter.section(group):
                formatter.write_dl(groups[group])
        if hidden:
            names = ", ".join(sorted(group.lower() for group in hidden - {RARE}))
            count = sum(len(groups[group]) for group in hidden)
            with formatter.section("More"):
                formatter.write_dl(
                    [("--help-all", f"Show {count} more options{names and f': {names}'}.")]
                )


def _words(parameter: Any) -> str:
    """The help of a parameter within a sentence."""
    return f"{parameter.help[0].lower()}{parameter.help[1:].rstrip('.')}"


def _heading(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return ARGUMENTS
    if parameter.name == "help":
        return OUTPUT
    return str(getattr(parameter, PANEL, None) or QUESTION)
