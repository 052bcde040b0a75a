"""Early doubts: every model of a run gets a first look before the rest is asked, once per run folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from snellen.checks import Doubt, merge_runs
from snellen.checks.answers import NO_PROBABILITIES
from snellen.engine import RunProgress
from snellen.engine.ask.watchdog import TookTooLong, watch
from snellen.exam.prepare import Prepared
from snellen.models.subject import Subject

STORED = ("preprocessing", NO_PROBABILITIES)  # what is not seen in the stored answers


@dataclass(frozen=True)
class EarlyDoubts:
    """What a few images make doubtful. `notices` are worth a word but no doubt, once per model; `preprocessing` is what
    run.json keeps of every first look, by model and run."""

    doubts: Sequence[Doubt] = ()
    notices: Sequence[str] = ()
    preprocessing: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class FirstLooks:
    """How to look: at torch networks only where a cluster asks (a callable may live where the actors are), and for so many
    seconds at most."""

    networks_only: bool = False
    timeout: float | None = None

    def at_all(self, prepared: Prepared, before: Mapping[str, Any], progress: RunProgress) -> EarlyDoubts:
        """What is doubtful of all models. Those that `before` lists, by model and run, are not looked at again: torch is
        needed only once. Notices that are new are printed."""
        doubts: list[Doubt] = []
        notices: list[str] = []
        preprocessing = dict(before)
        for name in prepared.inputs.runs:
            runs = [subject for subject in prepared.inputs.subjects if subject.name == name]
            of_runs: list[Doubt] = []
            for subject in runs:
                key = f"{subject.name}/{subject.run}"
                new = key not in before
                seen = self._at(subject, prepared, progress) if new else [Doubt(**facts) for facts in before[key]]
                if seen is None:
                    continue
                if new:
                    preprocessing[key] = [doubt.to_json() for doubt in seen if doubt.name in STORED]
                of_runs += [doubt for doubt in seen if doubt.name != NO_PROBABILITIES]
                for text in (str(doubt) for doubt in seen if doubt.name == NO_PROBABILITIES):
                    if text not in notices:
                        notices.append(text)
                        if new:
                            progress.note(text)
            doubts += merge_runs(of_runs, len(runs))
        return EarlyDoubts(doubts, notices, preprocessing)

    def _at(self, subject: Subject, prepared: Prepared, progress: RunProgress) -> list[Doubt] | None:
        """What is doubtful of one run of a model; None where looking took too long."""
        progress.say(f"a first look at {subject.name} ({subject.run})")
        try:
            with watch(self.timeout):
                return self._look(subject, prepared)
        except TookTooLong:
            progress.note(f"the first look at {subject.name} took more than {self.timeout:g} s and was left out")
            return None

    def _look(self, subject: Subject, prepared: Prepared) -> list[Doubt]:
        from snellen.checks.first_look import look_at_model

        if prepared.exam.task != "classification":
            return []  # what it looks for are classes of images
        inputs = prepared.inputs
        labels = inputs.labels[subject.name, subject.run, "test"]
        return look_at_model(subject, inputs.data["test"], labels, inputs.settings, networks_only=self.networks_only)
