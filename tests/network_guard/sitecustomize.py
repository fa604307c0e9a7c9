"""Notes and refuses every look-up of a host and every connection beyond this machine.

``tests/conftest.py`` loads it into the test process and puts this folder on PYTHONPATH: every
Python child imports it on its own as ``sitecustomize``, and forks inherit the hook. The refusal may
be swallowed by a library; the line in the log of ``SBERT_DESKTOP_NETWORK_LOG`` stays, and
conftest fails the test, or the run, for it. What native code looks up without Python is not seen.
"""

import os
import sys

LOG_VARIABLE = "SBERT_DESKTOP_NETWORK_LOG"
LOOK_UPS = {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyname_ex", "socket.gethostbyaddr"}
CONNECTIONS = {"socket.connect", "socket.sendto", "socket.sendmsg"}


def is_local(host):
    """Tells whether a host names this machine."""
    if isinstance(host, bytes):
        host = host.decode("utf-8", "replace")
    return not host or host in ("localhost", "::1") or str(host).startswith("127.")


def target_of(event, arguments):
    """Gives the host that an event is about, None where it stays on this machine."""
    if event in LOOK_UPS:
        host = arguments[0]
    elif event in CONNECTIONS:
        address = arguments[1]
        if arguments[0].family not in internet_families() or not isinstance(address, tuple):
            return None  # a socket file, netlink, or a datagram to a peer that connect has judged
        host = address[0]
    else:
        return None
    return None if is_local(host) else str(host)


def internet_families():
    """Gives AF_INET and AF_INET6; socket is loaded by now, for one of its events was raised."""
    import socket

    return (socket.AF_INET, socket.AF_INET6)


def watch(event, arguments):
    """Is the audit hook: writes one line and raises."""
    if not event.startswith("socket."):
        return
    host = target_of(event, arguments)
    if host is None:
        return
    log = os.environ.get(LOG_VARIABLE)
    if log:
        place = os.environ.get("PYTEST_CURRENT_TEST", "outside of a test")
        line = f"{event} {host!r} by process {os.getpid()} ({' '.join(sys.argv[:3])}) in {place}\n"
        handle = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(handle, line.encode("utf-8", "replace"))
        os.close(handle)
    raise OSError(f"the tests allow no network: {event} {host!r}")


if not getattr(sys, "_sbert_desktop_network_guard", False):
    sys._sbert_desktop_network_guard = True
    sys.addaudithook(watch)
