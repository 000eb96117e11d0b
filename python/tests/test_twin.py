"""The two connections say the same."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parents[1]
sys.path.insert(0, str(HERE))

from twin import twin  # noqa: E402


def test_the_twin_is_as_its_source_says() -> None:
    source = HERE / "src" / "discreet"
    assert (source / "_sync.py").read_text() == twin((source / "_aio.py").read_text()), "run python twin.py"
