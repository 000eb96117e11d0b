"""The binary as a part of this process: started when it is needed, and gone with us."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import weakref
from typing import IO

from . import _binary
from ._errors import BinaryError
from ._transport import Endpoint


class Attached:
    """``discreet attach``, which ends when its standard input does: also when we are killed.

    Where it was killed itself, the next request starts it anew. A fork of this process uses the
    one of its parent, and never starts another.
    """

    def __init__(self, arguments: list[str]) -> None:
        self._arguments = arguments
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._endpoint: Endpoint | None = None
        self._folder = ""
        self._owner = os.getpid()
        self._end: weakref.finalize[[subprocess.Popen[str], str, int], Attached] | None = None
        self.analyst = ""

    def endpoint(self) -> Endpoint:
        """Where it listens, after it was started if it has to be."""
        if self._owner != os.getpid():  # a fork, where a thread that held the lock is gone, or it was closed
            return self._opened()
        with self._lock:
            if self._owner == os.getpid() and (self._process is None or self._process.poll() is not None):
                self._start()
            return self._opened()

    def _opened(self) -> Endpoint:
        if self._endpoint is None:
            raise BinaryError("this connection was closed by the process that opened it", kind="binary")
        return self._endpoint

    def _start(self) -> None:
        self._finish()
        said = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
        try:
            process = subprocess.Popen(
                [str(_binary.find()), "attach", *self._arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                text=True,
                # Ctrl-C is ours, and not the binary's.
                start_new_session=sys.platform != "win32",
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )
        except OSError as error:
            raise BinaryError(f"the discreet command cannot be started: {error}", kind="binary") from error
        _started.add(process)
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
        except BaseException:  # Ctrl-C while it opens the data, which it would do for as long as the traceback is kept
            _stop(process, "", os.getpid())
            said.close()
            raise
        finally:
            process.stdout.close()
        if not line:
            process.wait()
            raise _refusal(said)
        said.close()
        greeting = json.loads(line)
        self._process = process
        self._folder = greeting["folder"]
        self._endpoint = Endpoint(greeting["address"], greeting["token"])
        self.analyst = greeting.get("analyst", "")
        self._end = weakref.finalize(self, _stop, process, self._folder, os.getpid())

    def _finish(self) -> None:
        if self._end is not None:
            self._end()
            self._end = None
        self._process = self._endpoint = None

    def close(self) -> None:
        """Lets it finish what runs, and end."""
        if self._owner == os.getpid():
            with self._lock:
                self._finish()
                self._owner = -1


_started: weakref.WeakSet[subprocess.Popen[str]] = weakref.WeakSet()


def _forked() -> None:
    """A fork holds nothing open whose end is to end the binary: it would go on, and keep the ledger, when we have ended."""
    for process in list(_started):
        if process.stdin is not None:
            process.stdin.close()
    _started.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def _stop(process: subprocess.Popen[str], folder: str, owner: int) -> None:
    if owner != os.getpid():
        return  # a fork, whose parent still needs it
    assert process.stdin is not None
    try:
        process.stdin.close()
    except OSError:
        pass
    try:
        process.wait(timeout=40)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if folder:
        shutil.rmtree(folder, ignore_errors=True)  # it is gone already, unless the binary was killed


def _refusal(said: IO[str]) -> BinaryError:
    said.seek(0)
    text = said.read().strip()
    said.close()
    reason = text.removeprefix("discreet: ").removeprefix("error: ") or "the discreet command ended at once"
    return BinaryError(reason, kind="binary")
