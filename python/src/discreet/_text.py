"""Other people's texts on a terminal."""

from __future__ import annotations

import re

_TURNS = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]")


def clean(text: str) -> str:
    """One line, with ? for anything that would move the cursor, end the line or turn its direction: people may have written keys."""
    return _TURNS.sub("?", text)
