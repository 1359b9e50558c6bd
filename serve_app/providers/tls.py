"""Whom outgoing connections trust."""

from __future__ import annotations

import ssl

import certifi


def tls_context() -> ssl.SSLContext:
    """Trusts the system's authorities, or those of ``SSL_CERT_FILE`` and ``SSL_CERT_DIR``, and
    certifi's, since slim images have none of their own.

    Making one takes tens of milliseconds: share it.
    """
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context
