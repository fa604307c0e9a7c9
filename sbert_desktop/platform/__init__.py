"""The few system services that the use cases and the command line need too."""

from sbert_desktop.platform._trash import SystemTrash, is_in_trash
from sbert_desktop.platform.opening import open_file, open_with, reveal
from sbert_desktop.platform.power import on_battery
from sbert_desktop.platform.programs import programs_for

__all__ = ["SystemTrash", "is_in_trash", "on_battery", "open_file", "open_with", "programs_for", "reveal"]
