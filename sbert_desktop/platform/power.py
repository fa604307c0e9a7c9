"""Whether this machine runs on battery, and how to step aside for others."""

from __future__ import annotations

import os


def on_battery() -> bool:
    """Says whether the machine runs on battery; False where that cannot be told."""
    try:
        import psutil

        battery = psutil.sensors_battery()
    except Exception:
        return False
    return battery is not None and battery.power_plugged is False


def lower_priority() -> None:
    """Lowers the priority of the calling thread (Linux) or leaves it as it is elsewhere."""
    if os.name == "posix" and hasattr(os, "setpriority"):
        import threading

        try:
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)
        except OSError:
            return
