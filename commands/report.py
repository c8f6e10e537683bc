"""``ithaca report``: a line on stderr, since the page may go to /dev/stdout."""

from ithaca.commands.api import reporting
from ithaca.commands.api.live_line import tell
from ithaca.commands.conclusion import line
from ithaca.commands.typed import calls

report = calls(reporting.report)(line(tell))
