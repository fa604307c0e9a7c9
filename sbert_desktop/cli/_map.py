"""The map of the library on the command line."""

from __future__ import annotations

import argparse


def make_map(options: argparse.Namespace) -> None:
    """Lays the library out in the plane and writes what is asked for."""
    raise NotImplementedError


def export_map(options: argparse.Namespace) -> None:
    """Writes where each document lies, or a page with the map."""
    raise NotImplementedError
