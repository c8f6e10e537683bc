"""Commands as tools of assistants, over MCP."""

from ithaca.files.plugin import Plugin

PLUGIN = Plugin(
    {"commands": {"serve": "ithaca.plugins.server.commands.serving:serve"}},
    {"serve": "Offer commands as tools to assistants (MCP)."},
)
