"""``ithaca serve``: commands offered as tools to assistants."""

from __future__ import annotations

import os
import signal
import sys
from typing import Annotated, Any

from typer import Option

from ithaca.files.errors import InputError
from ithaca.files.extras import check_installed
from ithaca.plugins.server.commands.tools import Tool, tools

#: Seconds that a call has after it is cancelled, to say what it has.
PATIENCE = 5.0

#: Most characters of an answer: those of a few hundred layers.
MAX_TEXT = 60_000

INSTRUCTIONS = (
    "Ithaca finds the best hardware configuration for tensor programs and proves it. Answers say "
    "their status: optimal is proven; otherwise value and lower bound enclose the optimum. State "
    "time_limit (seconds) for large problems. Pass output to keep an answer for explain and verify."
)


def serve(
    *,
    mcp: Annotated[
        bool, Option("--mcp", help="Speak the Model Context Protocol on standard input and output.")
    ] = False,
) -> None:
    """Offer commands as tools to assistants."""
    if not mcp:
        raise InputError("serve needs the protocol to speak; allowed: --mcp")
    check_installed("mcp")
    import asyncio

    # of an interrupt the event loop must hear, which then ends as a closed input does
    for ending in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ending, signal.default_int_handler)
    asyncio.run(_served(tools()))


async def _served(offered: dict[str, Tool]) -> None:
    import mcp_types as types
    from mcp.server.lowlevel import Server
    from mcp.server.stdio import stdio_server

    from ithaca import __version__
    from ithaca.plugins.server.commands.open_calls import answered_first

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        listed = [
            types.Tool(name=t.name, description=t.description, input_schema=t.schema)
            for t in offered.values()
        ]
        return types.ListToolsResult(tools=listed)

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = offered.get(params.name)
        try:
            if tool is None:
                raise InputError(f"unknown tool {params.name}; allowed: {', '.join(offered)}")
            text, failed = await called(tool.words(params.arguments or {}))
        except InputError as error:
            text, failed = str(error), True
        content = [types.TextContent(type="text", text=text)]
        return types.CallToolResult(content=list(content), is_error=failed)

    server: Any = Server(
        "ithaca",
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    async with stdio_server() as own, answered_first(*own) as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


async def called(words: list[str]) -> tuple[str, bool]:
    """The output of a command, and whether it refused what was asked.

    A call that is cancelled is interrupted, as by Ctrl-C, and killed if that does not end it.
    """
    import asyncio
    from asyncio.subprocess import DEVNULL, PIPE

    environment = os.environ | {"COLUMNS": "120", "NO_COLOR": "1"}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "ithaca.cli", *words),
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=PIPE,
        env=environment,
    )
    try:
        printed, noted = await process.communicate()
    except asyncio.CancelledError:
        process.send_signal(signal.SIGINT)
        try:
            await asyncio.wait_for(process.wait(), PATIENCE)
        except TimeoutError:
            process.kill()
        raise
    text, notes = (each.decode("utf-8", "replace").strip() for each in (printed, noted))
    whole = "\n".join(part for part in (text, notes) if part)
    if len(whole) > MAX_TEXT:
        cut = len(whole) - MAX_TEXT
        whole = f"{whole[:MAX_TEXT]}\n… {cut:,} more characters; pass output for all"
    return whole, process.returncode not in (0, 1)
