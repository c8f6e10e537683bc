"""The texts of exported files."""

from ithaca.exports.templates import templates_of

template = templates_of("ithaca.plugins.recurrences.exports")
