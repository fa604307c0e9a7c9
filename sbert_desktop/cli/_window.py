"""Opens the window; without a display it says so in one line."""

from __future__ import annotations

import argparse

from sbert_desktop import paths


def open_window(options: argparse.Namespace) -> int:
    """Opens the window on the library, or brings the one that is open to the front."""
    from sbert_desktop.ui.run import run_window

    library = getattr(options, "library", None) or paths.default_library()
    library = library.expanduser().absolute()

    def commands():  # type: ignore[no-untyped-def]
        from sbert_desktop.app.facade import App

        return App(library)

    return run_window(commands, library)
