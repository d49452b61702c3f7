"""The socket on which a server listens: the port that was asked for, or the next free one."""

from __future__ import annotations

import ipaddress
import socket
import sys
from typing import Any

from kinemorph.errors import UnsupportedError

FIRST_PORT, TRIED = 8080, 200
WAITING = 128  # connections that the operating system keeps until they are accepted


def is_loopback(host: str) -> bool:
    """Whether a host is this computer itself, so that no other computer can reach it."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listening_socket(port: int | None, host: str) -> socket.socket:
    """A socket that listens on a port of `host`; None means the first free one from 8080 on, 0 any free one.

    Raises UnsupportedError where the port is taken, or where `host` is no address of this computer.
    """
    if port is not None:
        return _listening(_checked(port), host)
    for candidate in range(FIRST_PORT, FIRST_PORT + TRIED):
        try:
            return _listening(candidate, host)
        except PortTakenError:
            continue
    return _listening(0, host)


class PortTakenError(UnsupportedError):
    """Another program listens on the port, or the port is not allowed."""


def _listening(port: int, host: str) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        if sys.platform == "win32":  # there SO_REUSEADDR would let two programs share a port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        _check_address(host)
        listener.bind((host, port))
        listener.listen(WAITING)
    except OSError:
        listener.close()
        raise PortTakenError(
            f"port {port} is taken by another program or not allowed; expected a free port. Give no port to get "
            "the next free one, or stop the program that uses it."
        ) from None
    except BaseException:
        listener.close()
        raise
    return listener


def _check_address(host: str) -> None:
    """Raises UnsupportedError where no server can listen on `host`, whatever the port."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM) as probe:
        try:
            probe.bind((host, 0))
        except (OSError, UnicodeError) as error:
            raise UnsupportedError(
                f"host is {host!r}, which is no address of this computer ({error}). Leave `host` out for 127.0.0.1."
            ) from None


def _checked(port: Any) -> int:
    if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port <= 65_535:
        raise UnsupportedError(f"port is {port!r}; expected a whole number from 0 to 65535, or None for a free port.")
    return port
