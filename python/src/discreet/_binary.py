"""Finds the discreet command that came with this package."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from pathlib import Path

from ._errors import BinaryError


def find() -> Path:
    """The path of the binary: DISCREET_BINARY, otherwise the one that pip installed, otherwise the one on the PATH."""
    name = "discreet.exe" if sys.platform == "win32" else "discreet"
    given = os.environ.get("DISCREET_BINARY")
    if given:
        return Path(given)
    user = sysconfig.get_preferred_scheme("user")
    for folder in (
        sysconfig.get_path("scripts"),
        sysconfig.get_path("scripts", scheme=user),
        Path(__file__).parents[1] / "bin",  # pip install --target
    ):
        path = Path(folder) / name
        if path.is_file():
            return path
    found = shutil.which(name)
    if found:
        return Path(found)
    raise BinaryError(
        "the discreet command is not installed",
        suggestion="install a wheel of discreet-dp for this platform, or name the binary in DISCREET_BINARY",
        kind="binary",
    )
