"""The commands of the Train page, for the palette and the list of keys."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from sbert_desktop.app.training_views import Task
from sbert_desktop.ui.page import Action
from sbert_desktop.ui.train.words import GRADE_WORDS, GRADES, TASKS

if TYPE_CHECKING:
    from sbert_desktop.ui.train.page import TrainPage


def page_actions(page: TrainPage) -> list[Action]:
    """Gives the commands of the page, and those of the step in front."""
    labelling = page.labelling

    def judging() -> bool:
        return page.step() == "judge" and labelling.feeds[labelling.task].current() is not None

    def judged() -> bool:
        view = labelling.view()
        return view is not None and bool(view.rows)

    words = TASKS[labelling.task]
    out = [
        Action("train_import", "Import pairs...", page.import_pairs, "", "get"),
        Action("train_export", "Export judgements...", page.export_judgements, "", "export", enabled=judged),
        Action("train_history", "Show all judgements", page.show_history, "", "history", enabled=judged),
        Action("train_task_same", f"Judge: {TASKS[Task.SAME].tab}", partial(_task, page, Task.SAME), "", "train"),
        Action("train_task_answers", f"Judge: {TASKS[Task.ANSWERS].tab}", partial(_task, page, Task.ANSWERS), "",
               "train"),
        Action("train_judge", "Judge pairs", partial(page.show_step, "judge"), "", "train",
               enabled=lambda: page.step() != "judge"),
        Action("train_check", "Check the judgements and train...", partial(page.show_step, "check"), "", "check",
               enabled=lambda: page.step() != "check" and (judged() or bool(page.imported))),
        Action("train_compare", "Compare the trained model", partial(page.show_step, "compare"), "", "gauge",
               enabled=lambda: page.can_compare()),
    ]
    if page.step() == "judge":
        out += [
            Action("train_yes", f"Judge: {words.yes.title.lower()}", partial(labelling.judge, words.yes.verdict),
                   words.yes.key, words.yes.icon, enabled=judging, bind=False),
            Action("train_no", f"Judge: {words.no.title.lower()}", partial(labelling.judge, words.no.verdict),
                   words.no.key, words.no.icon, enabled=judging, bind=False),
            Action("train_skip", "Skip this pair", labelling.skip_pair, "Space", "chevron_right", enabled=judging,
                   bind=False),
            Action("train_undo", "Take back the last judgement", labelling.take_back_last, "Backspace", "undo",
                   enabled=labelling.undo.isEnabled, bind=False),
            Action("train_more", "Show more or less context", labelling.more.click, "C", "text",
                   enabled=lambda: judging() and labelling.more.isEnabled(), bind=False),
        ]
        out.append(Action("train_read", "Read the passages where they stand", labelling.read_next, "P", "eye",
                          enabled=judging, bind=False))
        if labelling.task is Task.SAME:
            out.append(Action("train_graded", "Grade from 0 to 5, or same and different", labelling.graded.click, "G",
                              "sliders", enabled=judging, bind=False))
        if labelling.by_grades():
            out += [Action(f"train_grade_{grade}", f"Judge: {meaning.lower()}", partial(labelling.judge, grade), grade,
                           "train", enabled=judging, bind=False)
                    for grade, meaning in zip(GRADES, GRADE_WORDS, strict=True)]
    elif page.step() == "check":
        out.append(Action("train_start", "Train now", page.checking.train, "Ctrl+Return", "play", bind=False,
                          enabled=page.checking.may_train))
    else:
        step = page.running if page.step() == "train" else page.comparing
        out += step.actions_list()
    return out


def _task(page: TrainPage, task: Task) -> None:
    page.show_step("judge")
    page.labelling.show_task(task)
