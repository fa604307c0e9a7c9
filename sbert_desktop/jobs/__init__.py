"""Lanes, job contexts, events and isolated child processes. No Qt."""

from sbert_desktop.jobs.children import ChildProcess, spawn_child
from sbert_desktop.jobs.context import NullContext
from sbert_desktop.jobs.lanes import Jobs

__all__ = ["ChildProcess", "Jobs", "NullContext", "spawn_child"]
