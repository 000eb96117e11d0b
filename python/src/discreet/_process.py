"""The binary as a part of this process: started when needed, and ended with us."""

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

    def __init__(self, arguments: list[str], policy: str | None = None) -> None:
        self._arguments = arguments
        self._policy = policy
        self._stamp: object = None
        self.leases = 0
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._endpoint: Endpoint | None = None
        self._folder = ""
        self._owner = os.getpid()
        self._end: weakref.finalize[[subprocess.Popen[str], str, int], Attached] | None = None
        self.analyst = ""

    def endpoint(self) -> Endpoint:
        """Where it listens; starts it first if necessary."""
        if self._owner != os.getpid():  # a fork, where a thread that held the lock is gone, or it was closed
            return self._opened()
        with self._lock:
            if self._owner == os.getpid() and (self._process is None or self._process.poll() is not None):
                self._start()
            return self._opened()

    @property
    def closed(self) -> bool:
        """Whether it was closed for good."""
        return self._owner == -1

    def refresh(self) -> None:
        """Lets it end if the policy has changed since it was started: the next request starts it again."""
        with self._lock:
            if self._process is not None and self._stamp != _stamp(self._policy):
                self._finish()

    def _opened(self) -> Endpoint:
        if self._endpoint is None:
            raise BinaryError("this connection was closed by the process that opened it", kind="binary")
        return self._endpoint

    def _start(self) -> None:
        self._finish()
        self._stamp = _stamp(self._policy)
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
        """Lets it finish what is running, and end."""
        if self._owner == os.getpid():
            with self._lock:
                self._finish()
                self._owner = -1


_started: weakref.WeakSet[subprocess.Popen[str]] = weakref.WeakSet()


def _forked() -> None:
    """A fork keeps nothing open that would keep the binary running, and holding the ledger, after we have ended."""
    for process in list(_started):
        if process.stdin is not None:
            process.stdin.close()
    _started.clear()
    global _leasing
    _leasing = threading.RLock()  # a thread that held it is not with us


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


class Lease:
    """A connection's part in a binary, which ends with the last of them.

    To connect to a policy that is open here, as who runs a cell of a notebook again does, is to use
    the same binary, because a ledger has one writer.
    """

    def __init__(self, attached: Attached) -> None:
        self._attached = attached
        attached.leases += 1
        self._end = weakref.finalize(self, _leave, attached)

    def endpoint(self) -> Endpoint:
        """Where the binary listens."""
        if not self._end.alive:
            raise BinaryError("this connection is closed", suggestion="discreet.connect(...) opens another", kind="binary", spent=False)
        return self._attached.endpoint()

    def close(self) -> None:
        """Returns it."""
        self._end()


_policies: weakref.WeakValueDictionary[tuple[str, ...], Attached] = weakref.WeakValueDictionary()
_leasing = threading.RLock()  # what is collected meanwhile leaves in the same thread


def lease(policy: str, arguments: list[str]) -> Lease:
    """Opens a policy, or joins others in this process who opened it the same way."""
    key = (str(os.getpid()), policy, *arguments)
    with _leasing:
        found = _policies.get(key)
        if found is None or found.closed:
            found = _policies[key] = Attached(["--policy", policy, *arguments], policy)
        held = Lease(found)
    try:
        found.refresh()
        held.endpoint()
    except BaseException:
        held.close()
        raise
    return held


def _leave(attached: Attached) -> None:
    with _leasing:
        attached.leases -= 1
        last = attached.leases == 0
    if last:
        attached.close()


def _stamp(policy: str | None) -> object:
    """Values that change with a file."""
    try:
        found = os.stat(policy or "")
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


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
    reason = text.removeprefix("discreet: ").removeprefix("error: ").removeprefix("refused: ") or "the discreet command ended at once"
    suggestion = next((say for part, say in _SUGGESTIONS.items() if part in reason), "")
    return BinaryError(reason, suggestion=suggestion, kind="binary", spent=False)


# What a command line says in its own terms.
_SUGGESTIONS = {
    "the ledger is open already": "close it there: db.close() in the other notebook, or end its kernel; if several people ask at the same time, "
    "start a server, 'discreet serve --policy ...', and connect to it",
    "several analysts": "connect(..., analyst=...)",
    "lists no analyst": "connect(..., analyst=...)",
}
