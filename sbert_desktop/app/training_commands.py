"""The commands of labelling, training, spaces and the model lab; :class:`~sbert_desktop.app.facade.App` has them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sbert_desktop.domain import JobContext, JobId

if TYPE_CHECKING:
    from sbert_desktop.app.index_runs import IndexRuns
    from sbert_desktop.app.session import Session
    from sbert_desktop.app.training_views import LabView, PairView, Plan, Task
    from sbert_desktop.jobs import Jobs


class TrainingCommands:
    """Labelling, training, adopting, spaces, the lab. See :class:`sbert_desktop.app.interface.Commands`."""

    _session: Session
    _jobs: Jobs
    _runs: IndexRuns

    def _change_space(self, work: Callable[[JobContext], object]) -> JobId:
        """Runs what changes the space in force: indexing steps aside for it and goes on afterwards."""

        def change(context: JobContext) -> object:
            with self._runs.aside():
                return work(context)

        return self._jobs.submit("helper", "spaces", change)

    # labelling -------------------------------------------------------------

    def pairs(self, task: Task, count: int = 20, *, among: Sequence[int] = ()) -> JobId:
        """Proposes pairs to judge."""
        chosen = tuple(among)

        def work(context: JobContext) -> object:
            from sbert_desktop.app.labelling import propose_pairs

            return propose_pairs(self._session, task, count, context, chosen)

        return self._jobs.submit("study", "pairs", work, key="pairs")

    def label(self, pair: PairView, verdict: str) -> JobId:
        """Keeps a judgement."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.labelling import keep_label

            return keep_label(self._session, pair, verdict)

        return self._jobs.submit("errand", "labels", work)

    def unlabel(self, task: Task, ids: Sequence[str]) -> JobId:
        """Takes judgements back."""
        chosen = tuple(ids)

        def work(context: JobContext) -> object:
            from sbert_desktop.app.labelling import take_back

            return take_back(self._session, task, chosen)

        return self._jobs.submit("errand", "labels", work)

    def relabel(self, task: Task, label: str, verdict: str) -> JobId:
        """Changes a judgement that was made."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.labelling import change_label

            return change_label(self._session, task, label, verdict)

        return self._jobs.submit("errand", "labels", work)

    def labels(self, task: Task) -> JobId:
        """Lists judgements."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.labelling import labels_view

            return labels_view(self._session, task)

        return self._jobs.submit("viewer", "labels", work, key=f"labels {task.value}")

    def look_at_table(self, path: Path, mapping: Sequence[tuple[str, str]] = (), kind: str = "") -> JobId:
        """Reads the head of a table of labels."""
        chosen = tuple(mapping)

        def work(context: JobContext) -> object:
            from sbert_desktop.app.label_tables import look_at_table

            return look_at_table(path, chosen, kind)

        return self._jobs.submit("viewer", "table", work, key="table")

    def import_labels(self, path: Path, kind: str, mapping: Sequence[tuple[str, str]]) -> JobId:
        """Takes a table's labels into the library's data folder."""
        chosen = tuple(mapping)

        def work(context: JobContext) -> object:
            from sbert_desktop.app.label_tables import import_labels

            return import_labels(self._session, path, kind, chosen, context)

        return self._jobs.submit("study", "import-labels", work)

    def imported_labels(self) -> JobId:
        """Lists tables that were taken in."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.label_tables import imported_labels

            return imported_labels(self._session)

        return self._jobs.submit("viewer", "imported-labels", work, key="imported-labels")

    def remove_imported(self, name: str) -> JobId:
        """Removes a table that was taken in."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.label_tables import remove_imported

            return remove_imported(self._session, name)

        return self._jobs.submit("errand", "imported-labels", work)

    def export_labels(self, task: Task, target: Path) -> JobId:
        """Writes judgements."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.label_tables import export_labels

            return export_labels(self._session, task, target)

        return self._jobs.submit("helper", "export", work)

    # training --------------------------------------------------------------

    def check_labels(self, plan: Plan) -> JobId:
        """Checks what a plan would train on."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.planning import check_labels

            return check_labels(self._session, plan, context)

        return self._jobs.submit("study", "check-labels", work, key="check-labels")

    def train(self, plan: Plan) -> JobId:
        """Trains and compares."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.tuning import run_training

            return run_training(self._session, plan, context)

        return self._jobs.submit("training", "train", work)

    def resume_training(self, run: str) -> JobId:
        """Goes on with a training that was broken off."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.tuning import resume_training

            return resume_training(self._session, run, context)

        return self._jobs.submit("training", "train", work)

    def pause_training(self) -> None:
        """Pauses the training under way."""
        self._jobs.pause("training")

    def continue_training(self) -> None:
        """Goes on with it."""
        self._jobs.resume("training")

    def trainings(self) -> JobId:
        """Lists trainings."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.tuning import trainings

            return trainings(self._session)

        return self._jobs.submit("viewer", "trainings", work, key="trainings")

    def keep_training(self, run: str) -> JobId:
        """Keeps a tuned model among the models, without using it."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.tuning import keep_training

            return keep_training(self._session, run, context)

        return self._jobs.submit("helper", "trainings", work)

    def discard_training(self, run: str) -> JobId:
        """Removes a training and what it made."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.tuning import discard_training

            return discard_training(self._session, run)

        return self._jobs.submit("helper", "trainings", work)

    def adopt(self, run: str) -> JobId:
        """Puts a tuned model to use: its space is prepared in the background."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.tuning import adopt

            return adopt(self._session, run, context)

        return self._change_space(work)

    # spaces ----------------------------------------------------------------

    def spaces(self) -> JobId:
        """Lists spaces."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.spaces import list_spaces

            return list_spaces(self._session)

        return self._jobs.submit("viewer", "spaces", work, key="spaces")

    def use_space(self, fingerprint: str) -> JobId:
        """Goes back to a space that is kept."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.spaces import roll_back

            return roll_back(self._session, fingerprint)

        return self._change_space(work)

    def remove_space(self, fingerprint: str) -> JobId:
        """Removes a space."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.spaces import remove_space

            return remove_space(self._session, fingerprint)

        return self._change_space(work)

    # the lab ---------------------------------------------------------------

    def lab(self, models: Sequence[str], data: str = "judgements", ways: Sequence[str] = ()) -> JobId:
        """Measures models."""
        chosen, how = tuple(models), tuple(ways)

        def work(context: JobContext) -> object:
            from sbert_desktop.app.lab import run_lab

            return run_lab(self._session, chosen, data, how, context)

        return self._jobs.submit("lab", "lab", work, key="lab")

    def lab_results(self) -> JobId:
        """Gives what the lab measured last."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.lab import last_results

            return last_results(self._session)

        return self._jobs.submit("viewer", "lab-results", work, key="lab-results")

    def export_lab(self, view: LabView, target: Path) -> JobId:
        """Writes the lab's table."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.lab_export import export_lab

            return export_lab(view, target)

        return self._jobs.submit("helper", "export", work)

    def unread_languages(self) -> JobId:
        """Counts documents in languages that the model in use does not know."""

        def work(context: JobContext) -> object:
            from sbert_desktop.app.lab_languages import unknown_languages

            return unknown_languages(self._session)

        return self._jobs.submit("viewer", "unread-languages", work, key="unread-languages")
