"""The shape of every audit: what it asks for, what it concludes, and what a reader should see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from snellen.audits.exam import Exam
from snellen.audits.facts import FindingFacts
from snellen.audits.finding import Finding
from snellen.data.dataset import Dataset
from snellen.engine.keep.read_back import Answers, Searches
from snellen.engine.requests.cell import Cell
from snellen.engine.requests.map import MapRequest
from snellen.notation import text_form


class Audit:
    """A protocol: the questions it asks of every model, then what it concludes from the answers. No I/O, no batches.

    An audit is a frozen dataclass that derives from this class; its fields are its parameters and make its text form. It
    overrides the hooks it needs, most often `cells` and `conclude`; each hook does nothing by default.
    """

    title: ClassVar[str] = ""
    """The heading of its findings in the report; its name in the language where empty."""

    names: ClassVar[tuple[str, ...] | None] = None
    """The names of the findings that `conclude` makes of one model, so that `--require` can refuse others before anything
    is asked; None: any. An audit whose parameters add findings sets it on itself."""

    compared: ClassVar[tuple[str, ...]] = ()
    """The names of the findings that `compare` adds where several models are audited, for `--require` as well."""

    facts: ClassVar[Mapping[str, type[FindingFacts]]] = {}
    """The types of its findings' facts, by the names of the findings; those that are not listed stay open."""

    tasks: ClassVar[tuple[str, ...]] = ("classification",)
    """The tasks of models that it can ask; a model of another one is refused before anything is asked."""

    by_default: ClassVar[bool] = False
    """Whether it suits any data and model, and is run where no audit is named."""

    __str__ = text_form

    def suits(self, data: Dataset) -> str:
        """What the test data have that this audit is made for, such as `masks`; empty where there is nothing.

        Read by `default_audits` for audits that are not `by_default`: they are added where the data have it.
        """
        return ""

    @property
    def variants(self) -> tuple[str, ...]:
        """The kinds of modified test images that it can take as they are stored beside the data, as in `in9:DIR/KIND`.

        Read while a run is prepared; those that are there become datasets of the exam (`Exam.variants`).
        """
        return ()

    def parts(self, data: Dataset) -> Mapping[str, Dataset]:
        """Parts of the test data that it asks about alone, by role: fewer questions than about all images.

        Read while a run is prepared; clean answers and mild noise are those of all test images.
        """
        return {}

    def responses(self) -> list[str]:
        """The files of people's answers that its parameters name; a name of a model is none.

        Read while a run is prepared; their content is in `Exam.responses`.
        """
        return []

    def lists(self) -> list[tuple[str, str]]:
        """The files of sample ids that its parameters name, as role (`test`, `train`) and file.

        Read while a run is prepared; their content is in `Exam.lists`.
        """
        return []

    def cells(self, exam: Exam) -> list[Cell]:
        """The cells it needs; clean images and mild noise are always shown. Refuses data that it cannot work with.

        Called for the plan, before any model is asked.
        """
        return []

    def maps(self, exam: Exam) -> list[MapRequest]:
        """The attribution maps it needs. Called for the plan; `conclude` reads them by `answers.maps_by_shard(request)`."""
        return []

    def trials(self, exam: Exam) -> list[Cell]:
        """The trials it needs, whose questions depend on earlier answers. Called for the plan; `conclude` reads what came of
        them by `answers.trials(cell)`."""
        return []

    def searches(self, exam: Exam) -> list[Cell]:
        """The searches it needs, which try edits on a whole dataset. Called for the plan; `conclude` reads what they tried by
        `answers.searches(cell)`."""
        return []

    def surveys(self, exam: Exam) -> list[Cell]:
        """The surveys it needs, which walk over all images and count what a model shows inside. Called for the plan;
        `conclude` reads what they counted by `answers.surveys(cell)`."""
        return []

    def follow(self, exam: Exam, searches: Searches) -> list[Cell]:
        """The cells that follow from what the searches found, such as the worst edits on all images. Called when all
        searches have ended; every model is asked them."""
        return []

    def conclude(self, exam: Exam, answers: Answers) -> list[Finding]:
        """The findings about one model. Called once per model, when all answers are there; the interference of the cells
        that a finding rests on is put beside it afterwards."""
        return []

    def compare(self, exam: Exam, everyone: Sequence[Answers], findings: Sequence[Finding]) -> list[Finding]:
        """The findings that need several models. Called once, with all answers and all findings of `conclude`."""
        return []

    def pictures(self, exam: Exam, findings: Sequence[Finding]) -> list[tuple[Cell, str]]:
        """The images that the report shows, as cell and sample id. Called with all findings where a report is written; a
        thumbnail of each is stored in the run folder."""
        return []

    def trial_pictures(self, exam: Exam, findings: Sequence[Finding]) -> list[tuple[Cell, int]]:
        """The same for what the columns of a trial refer to, such as backgrounds, as trial and place."""
        return []
