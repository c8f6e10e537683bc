"""Streams of a server whose input ends only once all that was asked is answered."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

#: Notes that a request is given up.
CANCELLED = "notifications/cancelled"


@asynccontextmanager
async def answered_first(incoming: Any, outgoing: Any) -> AsyncIterator[tuple[Any, Any]]:
    """Streams in place of a server's own: a client that writes its questions and closes has its
    answers before the server ends.

    Parameters
    ----------
    incoming : object
        The stream of messages to the server.
    outgoing : object
        The stream of its own messages.
    """
    import anyio

    numbers: set[Any] = set()
    answered = anyio.Condition()
    ahead, received = anyio.create_memory_object_stream[Any](0)
    sent, behind = anyio.create_memory_object_stream[Any](0)

    async def read() -> None:
        async with ahead, incoming:
            async for message in incoming:
                note: Any = getattr(message, "message", None)
                if getattr(note, "method", None) == CANCELLED:
                    await settle((getattr(note, "params", None) or {}).get("requestId"))
                elif hasattr(note, "method") and hasattr(note, "id"):
                    numbers.add(note.id)
                await ahead.send(message)
            async with answered:
                while numbers:
                    await answered.wait()

    async def write() -> None:
        async with behind, outgoing:
            async for message in behind:
                await outgoing.send(message)
                if not hasattr(note := getattr(message, "message", None), "method"):
                    await settle(getattr(note, "id", None))

    async def settle(number: Any) -> None:
        async with answered:
            numbers.discard(number)
            answered.notify_all()

    async with anyio.create_task_group() as group:
        group.start_soon(read)
        group.start_soon(write)
        yield received, sent
        group.cancel_scope.cancel()
