"""Makes src/discreet/_sync.py of _aio.py: the same words without await. Run it after a change; a test does too."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent / "src" / "discreet"

WORDS = [
    (r"async def", "def"),
    (r"async with", "with"),
    (r"await ", ""),
    (r"__aenter__", "__enter__"),
    (r"__aexit__", "__exit__"),
    (r"aclose", "close"),
    (r"from \._asend import AsyncTransport\n", "from ._transport import Transport\n"),
    (r"Async([A-Z])", r"\1"),
    (r'^""".*?"""', '"""A connection. Made of _aio.py by twin.py: change that."""'),
]


def twin(source: str) -> str:
    """The module without asyncio."""
    for pattern, word in WORDS:
        source = re.sub(pattern, word, source)
    return source.replace("from ._transport import Response\nfrom ._transport import Transport\n", "from ._transport import Response, Transport\n")


if __name__ == "__main__":
    (HERE / "_sync.py").write_text(twin((HERE / "_aio.py").read_text()))
