"""An authority of the server's own, which clients on this machine may trust."""

from __future__ import annotations

import ssl
from pathlib import Path

import trustme


def server_context(ca_file: Path) -> ssl.SSLContext:
    """Return a context for this machine; clients trust it by ``ca_file``, which is written."""
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_alpn_protocols(["http/1.1"])
    authority.issue_cert("127.0.0.1", "::1", "localhost").configure_cert(context)
    authority.cert_pem.write_to_path(str(ca_file))
    return context
