"""Whether this machine runs on battery."""

from __future__ import annotations


def on_battery() -> bool:
    """Says whether the machine runs on battery; False where that cannot be told."""
    try:
        import psutil

        battery = psutil.sensors_battery()
    except Exception:
        return False
    return battery is not None and battery.power_plugged is False
