"""The themes of the library on the command line."""

from __future__ import annotations

import argparse

from sbert_desktop.app.session import Session
from sbert_desktop.domain import JobContext


def clusters(options: argparse.Namespace) -> None:
    """Shows the themes, finds them anew, or changes one."""
    raise NotImplementedError


def export_clusters(options: argparse.Namespace) -> None:
    """Writes the themes with their documents."""
    raise NotImplementedError


def evaluate(session: Session, options: argparse.Namespace, context: JobContext) -> dict[str, object]:
    """Measures the themes of labelled texts."""
    raise NotImplementedError
