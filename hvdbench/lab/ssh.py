"""One sshd per node with throw-away keys, as horovodrun wants it."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hvdbench.errors import RunError, UsageError
from hvdbench.lab.commands import enter
from hvdbench.lab.netns import HOSTS, folder
from hvdbench.lab.topology import Lab

PORT = 22


def key(folder: Path) -> Path:
    """The private key that opens every node of the lab."""
    return folder / "id_ed25519"


@contextmanager
def servers(lab: Lab) -> Iterator[None]:
    """An sshd in every node; raises UsageError without openssh-server, RunError when one does not come up.

    What ip netns exec binds over /etc/ssh tells clients inside not to write into anybody's known_hosts.
    """
    sshd = shutil.which("sshd") or "/usr/sbin/sshd"
    if not Path(sshd).exists():
        raise UsageError("horovodrun needs sshd on every node; run make setup as root (package openssh-server)")
    home = folder(lab)
    for name in (key(home), home / "host_key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(name)], check=True)
    Path("/run/sshd").mkdir(exist_ok=True)
    started = []
    try:
        for node in lab.nodes:
            etc = HOSTS / node.namespace / "ssh"
            etc.mkdir()
            (etc / "ssh_config").write_text(client_config())
            config = home / f"{node.name}.sshd"
            config.write_text(server_config(home, node.address))
            started.append(subprocess.Popen(enter(node, [sshd, "-D", "-e", "-f", str(config)]),
                                            stderr=(home / f"{node.name}.sshd.log").open("w")))  # fmt: skip
        _await(lab)
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


def client_config() -> str:
    """What ssh inside a node reads as /etc/ssh/ssh_config."""
    return "Host *\n StrictHostKeyChecking no\n UserKnownHostsFile /dev/null\n LogLevel ERROR\n"


def server_config(folder: Path, address: str) -> str:
    """An sshd that knows one key and nothing else."""
    lines = [
        f"Port {PORT}",
        f"ListenAddress {address}",
        f"HostKey {folder / 'host_key'}",
        f"AuthorizedKeysFile {key(folder)}.pub",
        "PidFile none",
        "StrictModes no",
        "UsePAM no",
        "PasswordAuthentication no",
        "PermitRootLogin yes",
    ]
    return "\n".join(lines) + "\n"


def _await(lab: Lab) -> None:
    for node in lab.nodes:
        argv = enter(lab.nodes[0], ["ssh", "-i", str(key(folder(lab))), "-p", str(PORT), node.name, "true"])
        for _ in range(50):
            if subprocess.run(argv, capture_output=True, timeout=20).returncode == 0:
                break
            time.sleep(0.1)
        else:
            log = (folder(lab) / f"{node.name}.sshd.log").read_text().strip().replace("\n", "; ")
            raise RunError(f"the sshd of {node.name} does not answer ({log}); use --starter mpirun")
