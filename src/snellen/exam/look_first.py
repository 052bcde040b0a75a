"""The first look: a few images are shown to every model before the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from snellen.checks import Doubt, merge_runs, probabilities
from snellen.engine import Progress
from snellen.engine.ask.watchdog import TookTooLong, watch
from snellen.exam.prepare import Prepared
from snellen.models.subject import Subject

STORED = ("preprocessing", probabilities.NAME)  # what is not seen in the stored answers


@dataclass(frozen=True)
class FirstLook:
    """How to look: at torch networks only where a cluster asks (a callable may live where the actors are), and for so many
    seconds at most. `notices` are what it saw, once per model, that is worth a word but no doubt."""

    networks_only: bool = False
    timeout: float | None = None
    notices: list[str] = field(default_factory=list)

    def at_all(self, prepared: Prepared, preprocessing: dict[str, Any], progress: Progress) -> list[Doubt]:
        """What a few images make doubtful; doubts about preprocessing go into `preprocessing`, by model and run.

        A run that is there already is not looked at again: torch is needed only once.
        """
        doubts: list[Doubt] = []
        for name in prepared.inputs.runs:
            runs = [subject for subject in prepared.inputs.subjects if subject.name == name]
            of_runs: list[Doubt] = []
            for subject in runs:
                key = f"{subject.name}/{subject.run}"
                if key in preprocessing:
                    of_runs += self._without_notices([Doubt(**facts) for facts in preprocessing[key]])
                    continue
                progress.say(f"a first look at {subject.name} ({subject.run})")
                try:
                    with watch(self.timeout):
                        new = self._at(subject, prepared)
                except TookTooLong:
                    progress.note(
                        f"the first look at {subject.name} took more than {self.timeout:g} s and was left out"
                    )
                    continue
                preprocessing[key] = [doubt.to_json() for doubt in new if doubt.name in STORED]
                of_runs += self._without_notices(new, progress)
            doubts += merge_runs(of_runs, len(runs))
        return doubts

    def _without_notices(self, doubts: Sequence[Doubt], progress: Progress | None = None) -> list[Doubt]:
        """The doubts apart from notices, which are kept, and printed where they are new."""
        for doubt in doubts:
            if doubt.name == probabilities.NAME and str(doubt) not in self.notices:
                self.notices.append(str(doubt))
                if progress is not None:
                    progress.note(str(doubt))
        return [doubt for doubt in doubts if doubt.name != probabilities.NAME]

    def _at(self, subject: Subject, prepared: Prepared) -> list[Doubt]:
        from snellen.checks.first_look import first_look

        if prepared.exam.task != "classification":
            return []  # what it looks for are classes of images
        inputs = prepared.inputs
        labels = inputs.labels[subject.name, subject.run, "test"]
        return first_look(subject, inputs.data["test"], labels, inputs.settings, networks_only=self.networks_only)
