"""The example of nginx that is shipped, started on loopback in front of something.

nginx is the one on PATH; ``make programs`` installs Debian's. Without it the tests fail.
"""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

EXAMPLE = Path(__file__).parent.parent / "deploy" / "nginx.conf"


@dataclass(frozen=True)
class Proxy:
    """An nginx that runs."""

    address: str
    plain: str
    certificate: Path
    log: Path

    @property
    def trusting(self) -> ssl.SSLContext:
        """TLS as a client has it who trusts this certificate and no other."""
        return ssl.create_default_context(cafile=self.certificate)


@contextmanager
def proxy(upstream: str, folder: Path) -> Iterator[Proxy]:
    """The shipped example in front of ``upstream``, ``unix:/path`` or ``host:port``.

    Only places are replaced; each of them must stand in the example.
    """
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if program is None:
        pytest.fail("nginx is missing: make programs installs it")
    certificate, key = _self_signed(folder)
    secure, plain = _free_port(), _free_port()
    text = EXAMPLE.read_text()
    for before, after in {
        "server unix:/run/rainbow/http.sock": f"server {upstream}",
        "listen 80;": f"listen 127.0.0.1:{plain};",
        "listen [::]:80;": "",
        "listen 443 ssl;": f"listen 127.0.0.1:{secure} ssl;",
        "listen [::]:443 ssl;": "",
        "/etc/nginx/rainbow.crt": str(certificate),
        "/etc/nginx/rainbow.key": str(key),
        "/var/log/nginx/rainbow.log": str(folder / "access.log"),
    }.items():
        assert text.count(before) == 1, f"{before} is not in the example once"
        text = text.replace(before, after)
    (folder / "rainbow.conf").write_text(text)
    kept = "".join(
        f"{kind}_temp_path {folder}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"daemon off;\nworker_processes 1;\npid {folder}/pid;\nerror_log {folder}/error.log;\n"
        f"user root;\nevents {{}}\nhttp {{\n{kept}include {folder}/rainbow.conf;\n}}\n"
    )
    error = folder / "error.log"
    command: list[str | Path] = [program, "-p", folder, "-e", error, "-c", folder / "nginx.conf"]
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
    try:
        while True:
            try:
                socket.create_connection(("127.0.0.1", secure)).close()
                break
            except OSError:
                assert process.poll() is None, (folder / "output").read_text() + error.read_text()
                time.sleep(0.02)
        yield Proxy(
            f"https://127.0.0.1:{secure}",
            f"http://127.0.0.1:{plain}",
            certificate,
            folder / "access.log",
        )
    finally:
        process.terminate()
        process.wait(20)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def _self_signed(folder: Path) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 and its key, in files."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    public, private = folder / "rainbow.crt", folder / "rainbow.key"
    public.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return public, private
