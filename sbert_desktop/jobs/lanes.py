"""Two lanes of plain threads: the writer, which alone changes the library, and the reader.

Every job ends with exactly one ``Finished`` on every path. On the reader lane a newer request of
the same key takes the place of an older one: a waiting one is dropped, a running one is cancelled,
and both end as ``superseded``.
"""

from __future__ import annotations

import itertools
import threading
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sbert_desktop.domain import Event, Failure, Finished, JobContext, JobId, Outcome, Started
from sbert_desktop.errors import Cancelled, SbertDesktopError
from sbert_desktop.jobs.context import LaneContext

Work = Callable[[JobContext], object]


@dataclass(slots=True)
class _Job:
    job_id: JobId
    kind: str
    key: str
    work: Work
    context: LaneContext
    superseded: bool = False


class Lane:
    """One worker thread with a queue. Threads are never terminated, only asked."""

    def __init__(self, name: str, post: Callable[[Event], None]) -> None:
        self._name = name
        self._post = post
        self._condition = threading.Condition()
        self._queue: deque[_Job] = deque()
        self._running: _Job | None = None
        self._closing = False
        self._thread = threading.Thread(target=self._run, name=f"lane-{name}", daemon=True)
        self._thread.start()

    def submit(self, job: _Job) -> None:
        """Queues a job; one with a key supersedes earlier ones of that key."""
        dropped: list[_Job] = []
        with self._condition:
            if self._closing:
                dropped.append(job)
            else:
                if job.key:
                    for other in [waiting for waiting in self._queue if waiting.key == job.key]:
                        self._queue.remove(other)
                        other.superseded = True
                        dropped.append(other)
                    if self._running is not None and self._running.key == job.key:
                        self._running.superseded = True
                        self._running.context.cancel()
                self._queue.append(job)
                self._condition.notify()
        for other in dropped:
            outcome = Outcome.SUPERSEDED if other.superseded else Outcome.CANCELLED
            self._post(Finished(other.job_id, outcome))

    def find(self, job_id: JobId) -> LaneContext | None:
        """Gives the context of a waiting or running job."""
        return next((job.context for job in self.jobs() if job.job_id == job_id), None)

    def jobs(self) -> list[_Job]:
        """Gives the running job and all waiting ones."""
        with self._condition:
            return [*([self._running] if self._running else []), *self._queue]

    def close(self, timeout: float) -> bool:
        """Cancels everything and joins; False when the thread did not end in time."""
        with self._condition:
            self._closing = True
            dropped = list(self._queue)
            self._queue.clear()
            if self._running is not None:
                self._running.context.cancel()
            self._condition.notify_all()
        for job in dropped:
            self._post(Finished(job.job_id, Outcome.CANCELLED))
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while True:
            with self._condition:
                while not self._queue and not self._closing:
                    self._condition.wait()
                if not self._queue:
                    return
                job = self._running = self._queue.popleft()
            self._post(Started(job.job_id, job.kind))
            finished = self._finish(job)
            with self._condition:
                self._running = None
            self._post(finished)

    @staticmethod
    def _finish(job: _Job) -> Finished:
        try:
            job.context.check()
            result = job.work(job.context)
            if job.superseded:
                return Finished(job.job_id, Outcome.SUPERSEDED)
            return Finished(job.job_id, Outcome.DONE, result)
        except Cancelled:
            return Finished(job.job_id, Outcome.SUPERSEDED if job.superseded else Outcome.CANCELLED)
        except SbertDesktopError as error:
            failure = Failure(error.code, error.message, error.hint)
            return Finished(job.job_id, Outcome.FAILED, None, failure)
        except Exception as error:
            failure = Failure(
                "bug",
                f"Something went wrong inside the program ({type(error).__name__}).",
                "Nothing was lost. Please report it with the details.",
                True,
                traceback.format_exc(),
            )
            return Finished(job.job_id, Outcome.FAILED, None, failure)


class Jobs:
    """The lanes behind one ``post``; safe from any thread."""

    def __init__(self, post: Callable[[Event], None], lanes: Sequence[str] = ("writer", "reader")) -> None:
        self._numbers = itertools.count(1)
        self._lanes = {name: Lane(name, post) for name in lanes}
        self._post = post

    def submit(self, lane: str, kind: str, work: Work, *, key: str = "") -> JobId:
        """Queues work on a lane and gives its id at once."""
        job_id = JobId(f"{kind}-{next(self._numbers)}")
        self._lanes[lane].submit(_Job(job_id, kind, key, work, LaneContext(job_id, self._post)))
        return job_id

    def cancel(self, job_id: JobId) -> None:
        """Cancels a job, waiting or running; unknown ids are ignored."""
        for lane in self._lanes.values():
            context = lane.find(job_id)
            if context is not None:
                context.cancel()

    def cancel_kind(self, lane: str, kind: str) -> None:
        """Cancels the jobs of one kind on a lane."""
        for job in self._lanes[lane].jobs():
            if job.kind == kind:
                job.context.cancel()

    def kinds(self, lane: str) -> set[str]:
        """Gives the kinds of the jobs that wait or run on a lane and were not cancelled."""
        return {job.kind for job in self._lanes[lane].jobs() if not job.context.cancelled}

    def ids(self, lane: str) -> set[JobId]:
        """Gives the ids of the jobs that wait or run on a lane and were not cancelled."""
        return {job.job_id for job in self._lanes[lane].jobs() if not job.context.cancelled}

    def pause(self, lane: str) -> None:
        """Pauses what runs and waits on a lane."""
        for job in self._lanes[lane].jobs():
            job.context.pause()

    def resume(self, lane: str) -> None:
        """Lets a lane go on."""
        for job in self._lanes[lane].jobs():
            job.context.resume()

    def close(self, timeout: float = 5.0) -> bool:
        """Cancels and joins both lanes within the timeout (seconds); False when one did not end."""
        import time

        end = time.monotonic() + timeout
        for lane in self._lanes.values():
            for job in lane.jobs():
                job.context.cancel()
        ended = [lane.close(max(0.1, end - time.monotonic())) for lane in self._lanes.values()]
        return all(ended)
