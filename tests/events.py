"""A receiver of events that lets a test wait for them."""

from __future__ import annotations

import threading

from sbert_desktop.domain import Finished, Outcome, Partial


class Inbox:
    """Receives events and lets a test wait for them."""

    def __init__(self) -> None:
        self.events = []
        self.condition = threading.Condition()

    def post(self, event) -> None:
        with self.condition:
            self.events.append(event)
            self.condition.notify_all()

    def finished(self, job, timeout=60.0) -> Finished:
        def found():
            return next((e for e in self.events if isinstance(e, Finished) and e.job_id == job), None)

        with self.condition:
            assert self.condition.wait_for(lambda: found() is not None, timeout), f"{job} did not finish"
            return found()

    def result(self, job, timeout=60.0):
        end = self.finished(job, timeout)
        assert end.outcome is Outcome.DONE, end
        return end.result

    def until(self, test, timeout=60.0) -> None:
        with self.condition:
            assert self.condition.wait_for(lambda: any(test(e) for e in self.events), timeout)

    def partials(self, job, kind) -> list:
        with self.condition:
            return [
                e.result
                for e in self.events
                if isinstance(e, Partial) and e.job_id == job and isinstance(e.result, kind)
            ]
