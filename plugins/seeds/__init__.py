"""Start populations for other search tools."""

from ithaca.files.plugin import Plugin

PLUGIN = Plugin(
    {
        "completions": {"seed to": "ithaca.plugins.seeds.commands.seeding:complete"},
        "commands": {"seed": "ithaca.plugins.seeds.commands.seed:seed"},
        "names": {"seed": "ithaca.plugins.seeds.commands.seeding:seed"},
    },
    {"seed": "Write a start population for another search tool."},
)
