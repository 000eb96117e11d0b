"""Made-up data, policies, and servers that are the real binary."""

from __future__ import annotations

import csv
import os
import random
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import discreet
from discreet import _binary

TABLES = """
    tables:
      patients:
        unique: pid
        columns:
          age:       {type: integer, bounds: [0, 110], nullable: false}
          sex:       {type: text, keys: [F, M, X]}
          diagnosis: {type: text, keys: [asthma, diabetes, flu]}
          born:      {type: date, keys: [1980-01-01, 1990-01-01]}
          smoker:    {type: boolean}
"""


def write_policy(folder: Path, *, epsilon: str = "50", more: str = "", analysts: str = "{ana: {share: 1}}") -> Path:
    """Writes 2,000 made-up patients and a policy."""
    draw = random.Random(1)
    (folder / "data").mkdir(exist_ok=True)
    with open(folder / "data" / "patients.csv", "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["pid", "age", "sex", "diagnosis", "born", "smoker"])
        for pid in range(2000):
            age = draw.randint(18, 90)
            smoker = draw.random() < (0.9 if age > 54 else 0.1)
            sex, diagnosis = draw.choice("FMX"), draw.choice(["asthma", "diabetes", "flu"])
            out.writerow([pid, age, sex, diagnosis, draw.choice(["1980-01-01", "1990-01-01"]), str(smoker).lower()])
    policy = folder / "hospital.yaml"
    policy.write_text(
        "datasets:\n  hospital:\n    engine: duckdb\n    source: data\n    unit: patients.pid\n"
        f"    budget: {{epsilon: {epsilon}, per_query: {{default: 0.1, max: {min(5.0, float(epsilon))}}}}}\n    release: immediate\n    failures: {{analyst: 3, dataset: 9}}\n    analysts: {analysts}"
        + TABLES
        + more
    )
    return policy


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    """A policy with a large budget."""
    return write_policy(tmp_path)


@pytest.fixture
def db(policy: Path) -> Iterator[discreet.Database]:
    """A policy that is open on this machine."""
    with discreet.connect(policy) as found:
        yield found


def _secret(text: str) -> str:
    """The password or the token that a command has drawn."""
    (found,) = re.findall(r"^(?:password|token): (\S+)$", text, re.MULTILINE)
    return str(found)


class Server:
    """A server, which can be killed and started again at the same port."""

    def __init__(self, policy: Path, certificate: tuple[Path, Path] | None = None) -> None:
        self.policy = policy
        self.certificate = certificate
        binary = str(_binary.find())
        added = subprocess.run([binary, "user", "add", "ana", "--policy", policy], check=True, capture_output=True, text=True)
        self.password = _secret(added.stdout)
        made = subprocess.run([binary, "user", "token", "ana", "--policy", policy], check=True, capture_output=True, text=True)
        self.token = _secret(made.stdout)
        self.port = 0
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"{'https' if self.certificate else 'http'}://127.0.0.1:{self.port}"

    def start(self) -> None:
        command = [str(_binary.find()), "serve", "--policy", str(self.policy), "--http", f"127.0.0.1:{self.port}", "--listen", "127.0.0.1:0"]
        if self.certificate:
            command += ["--tls-cert", str(self.certificate[0]), "--tls-key", str(self.certificate[1])]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert self.process.stdout is not None
        while line := self.process.stdout.readline().decode():
            if line.startswith("PostgreSQL on "):
                self.postgres = line.split()[-1]
            if line.startswith("HTTP on "):
                self.port = int(line.rsplit(":", 1)[1])
                return
        raise AssertionError(f"the server ended with {self.process.wait()}")

    def kill(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(timeout=60)


@pytest.fixture
def server(policy: Path) -> Iterator[Server]:
    """A server for the policy."""
    running = Server(policy)
    yield running
    running.stop()


def until(done: Callable[[], bool], seconds: float = 30) -> bool:
    """Waits for something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if done():
            return True
        time.sleep(0.05)
    return False


def alive(pid: int) -> bool:
    """Whether a process is there, and no zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
