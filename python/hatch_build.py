"""Builds the command and puts it into the wheel, as one of the scripts that pip installs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# Without symbols, which nobody debugs with here, nor those of DuckDB for others to link with: it is
# linked statically. What is left to the machine are the C and the C++ library.
LINK = "-s -w" + (" -extldflags=-Wl,--exclude-libs,ALL" if sys.platform == "linux" else "")


def platform_of(binary: Path) -> str:
    """The platform that a binary runs on: on Linux, the oldest C library that has what it uses."""
    name = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    if not name.startswith("linux_"):
        return name
    versions = re.findall(rb"GLIBC_(\d+)\.(\d+)", binary.read_bytes())
    major, minor = max((int(a), int(b)) for a, b in versions)
    return f"manylinux_{major}_{minor}_{name.removeprefix('linux_')}"


class CustomBuildHook(BuildHookInterface[Any]):
    """Runs go, unless DISCREET_BINARY names a binary that was built before, for DISCREET_PLATFORM if for another machine than this."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        given = os.environ.get("DISCREET_BINARY")
        platform = os.environ.get("DISCREET_PLATFORM")  # as pip calls it, such as win_amd64
        windows = platform.startswith("win") if platform else sys.platform == "win32"
        name = "discreet.exe" if windows else "discreet"
        binary = Path(given) if given else Path(self.directory).absolute() / "bin" / name
        if not given:
            binary.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(
                ["go", "build", "-trimpath", "-ldflags", LINK, "-o", str(binary), "./cmd/discreet"],
                cwd=Path(self.root).parent,
                check=True,
            )
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform or platform_of(binary)}"
        build_data["shared_scripts"] = {str(binary): name}
