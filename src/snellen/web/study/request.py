"""What makes a study: every setting once, for the command line, settings files and Python."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from snellen.errors import UserError, choice, option
from snellen.request import Request, plugin_setting, setting

Design = Literal["random", "balanced", "partition"]
StudyProtocol = Literal["kassaw2024", "forced", "better-map", "trust-map"]
EXPLANATIONS = ("better-map", "trust-map")  # of the type `explanation`: pictures are maps of a run's models


@dataclass(frozen=True, kw_only=True)
class StudyRequest(Request):
    """A study of people: which images they see, what they are asked, and under which conditions."""

    source: str = setting(
        "a run folder, whose images and distortions people see too, or data as audits take them", required=True
    )
    out: Path = setting("folder of the study", required=True, written=True)
    protocol: StudyProtocol = setting(
        "kassaw2024: a tree of questions and a click on the object; forced: cross, picture for some frames, mask, choice; "
        "better-map: the better of two models' maps; trust-map: is the model right, told from its map",
        "forced",
    )
    design: Design = setting(
        "random: images drawn for each person; balanced: ratings per image differ by at most one; partition: each image once",
        "balanced",
    )
    per_person: int | None = setting("images that a person sees (default 200, or one per source)", at_least=1)
    distortions: tuple[str, ...] = setting(
        "distortions in which images are shown (default: none(), or all of a run's model)", (), flag="--distortion"
    )
    seed: int = setting("seed of distortions and of what is drawn", 0, at_least=0, at_most=2**31 - 1)
    limit: int | None = setting("images of the source that are used, chosen by a hash of their ids", at_least=1)
    apart: str | None = setting(
        "column of which a person sees each value once (default: source, instance, group, video)"
    )
    model: str | None = setting("model of the run whose canvas and maps are used (default: the first)")
    against: str | None = setting("the second model of better-map (default: the second of the run)")
    method: str = setting("method of the maps that better-map and trust-map show", "gradcam")
    size: int | None = setting(
        "side of the pictures where the data have no size of their own", at_least=8, at_most=4096
    )
    donors: str | None = setting("data from which distortions paste")
    plugins: tuple[str, ...] = plugin_setting()
    occluders: Path | None = setting("folder of cut-outs that distortions paste")
    tree: str | None = setting(
        "tree of classes: iruo, data, or a YAML file of {class: parent}", metavar="iruo|data|FILE"
    )
    practice: int = setting("practice images before the first that counts", 4, at_least=0, at_most=100)
    catch: int = setting("undistorted catch images among those that count", 4, at_least=0, at_most=100)
    participants: int = setting("personal links to make", 0, at_least=0, at_most=100_000)
    recruit: bool = setting("take people in by PROLIFIC_PID, STUDY_ID and SESSION_ID in the address", False)
    most_people: int | None = setting("people that a recruiting site may send (default: no limit)", at_least=1)
    completion: str | None = setting("what people get at the end: a code, or an address that starts with https://")
    frames: int = setting(
        "frames that a forced picture is shown; 0 shows it until the answer", 12, at_least=0, at_most=6000
    )
    fixation_ms: int = setting("time of the fixation cross in ms", 500, at_least=0, at_most=10_000)
    mask_ms: int = setting("time of the noise mask in ms; 0 shows none", 300, at_least=0, at_most=10_000)
    scale: int | None = setting(
        "device pixels per pixel (default: the largest that fits, up to 8)", at_least=1, at_most=32
    )
    breaks: int = setting("images between two breaks; 0 makes none", 50, at_least=0)
    card: bool = setting("ask for the size of a bank card on the screen, which gives pixels per mm", False)
    title: str = setting("title of the pages", "What do you see?")
    consent: Path | None = setting("Markdown that people consent to (default: a plain text that names what is stored)")
    instructions: Path | None = setting("Markdown that explains the task (default: that of the protocol)")
    retention: str | None = setting("date until which answers are kept, shown with the consent", metavar="YYYY-MM-DD")
    database: str | None = setting("PostgreSQL database instead of a file in the folder", metavar="URL", once=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.retention is not None:
            try:
                datetime.date.fromisoformat(self.retention)
            except ValueError:
                raise UserError(f"expected {option('retention')} as YYYY-MM-DD, got '{self.retention}'") from None
        if self.completion and ":" in self.completion and not self.completion.startswith("https://"):
            raise UserError(
                f"expected {option('completion')} as a code or an address with https://, got '{self.completion}'"
            )
        if self.most_people is not None and not self.recruit:
            raise UserError(
                f"{option('most_people')} bounds who a recruiting site sends; give {choice('recruit', True)} too"
            )


@dataclass(frozen=True, kw_only=True)
class ExportRequest(Request):
    """Which tables of a study are written, and how."""

    study: Path = setting("folder of the study", required=True, written=True)
    out: Path = setting("folder that the tables are written to", required=True, written=True)
    format: Literal["csv", "parquet"] = setting("format of the tables", "csv")
    recruiting_ids: bool = setting("write the ids of the recruiting site too, to a table of their own", False)
    database: str | None = setting("PostgreSQL database of the answers", metavar="URL", once=True)


@dataclass(frozen=True, kw_only=True)
class SimulateRequest(Request):
    """Simulated participants, who take part in a study through its pages' own interface."""

    study: Path = setting("folder of the study", required=True, written=True)
    people: int = setting("simulated participants", 20, at_least=1, at_most=10_000)
    bad: int = setting("of them, those who answer at random", 0, at_least=0)
    accuracy: float = setting("share of images that the others name right", 0.85, at_least=0, at_most=1)
    twice: float = setting("share of answers that are sent twice, as after a lost reply", 0.1, at_least=0, at_most=1)
    think_ms: float = setting("mean time between two answers of a person in ms", 0.0, at_least=0)
    seed: int = setting("seed of what they answer", 0, at_least=0)
    url: str | None = setting("address of a server that serves the study already (default: one is started for them)")
    database: str | None = setting("PostgreSQL database of the answers", metavar="URL", once=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bad > self.people:
            raise UserError(f"expected {option('bad')} of at most {option('people')} ({self.people}), got {self.bad}")
