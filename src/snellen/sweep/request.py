"""What a sweep should do: every setting once, for the `snellen sweep` commands, their settings files and Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from snellen.errors import UserError, option
from snellen.request import Request, plugin_setting, setting
from snellen.train.request import RecipeChoice

if TYPE_CHECKING:
    from snellen.data import Dataset

    DataLike = str | Dataset
    NamedData = str | Mapping[str, DataLike]  # texts NAME=DATA, or a dictionary
    NamedModel = str | Mapping[str, str]
    GapLike = str | Sequence[str]
    GroupsLike = str | Path | Mapping[str, Sequence[str]]
else:  # what Python may pass beyond texts is not imported for --help
    DataLike = NamedData = NamedModel = GapLike = GroupsLike = object

MODELS = "NAME=MODEL, trained already; a glob is one model of several runs"


@dataclass(frozen=True, kw_only=True)
class SweepRequest(Request):
    """The settings that every sweep has."""

    test: tuple[NamedData, ...] = setting("dataset to ask about; may be given several times", (), metavar="NAME=DATA")
    out: Path | None = setting("folder for networks, answers, table and page", metavar="DIR", written=True)
    limit: int | None = setting("ask about at most N images of each test", at_least=1, at_most=10**9)
    device: str | None = setting("cpu, cuda, cuda:1, mps or auto", metavar="DEVICE")
    plugins: tuple[str, ...] = plugin_setting()
    html: bool = setting("write the page sweep.html", True)
    dry_run: bool = setting("print how many trainings and audits there are, and stop", False, once=True)
    quiet: bool = setting("print nothing but errors", False, short="-q")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.out is None:
            raise UserError("no folder given; for example --out sweeps/first")

    @property
    def folder(self) -> Path:
        """Where everything goes."""
        assert self.out is not None
        return self.out


@dataclass(frozen=True, kw_only=True)
class GapRequest(SweepRequest):
    """The settings of a sweep whose tests show the same objects."""

    gaps: tuple[GapLike, ...] | None = setting(
        "two tests to subtract; default mixed_same,mixed_rand", flag="--gap", metavar="FIRST,SECOND"
    )

    @property
    def pairs(self) -> list[tuple[str, str]] | None:
        """The pairs of tests to subtract, where they are named."""
        return None if self.gaps is None else [_gap(gap) for gap in self.gaps]


@dataclass(frozen=True, kw_only=True)
class TrainingSweepRequest(GapRequest, RecipeChoice):
    """The settings of a sweep that trains."""

    runs: int = setting("number of runs of each training, which differ in seed", 1, at_least=1, at_most=10_000)


@dataclass(frozen=True, kw_only=True)
class VariantsRequest(TrainingSweepRequest):
    """Train on each of some datasets and test on each of others."""

    train: tuple[NamedData, ...] = setting("dataset to train on; may be given several times", (), metavar="NAME=DATA")
    in9: Path | None = setting("folder of variants: train and test on each of them", metavar="DIR")
    in9_test: Path | None = setting("test on the variants of this folder instead", metavar="DIR")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.in9_test is not None and self.in9 is None:
            raise UserError(f"{option('in9_test')} needs {option('in9')}, the folder to train on")


@dataclass(frozen=True, kw_only=True)
class AmountRequest(TrainingSweepRequest):
    """Train on more and more of a dataset."""

    data: DataLike | None = setting("dataset to train on; see `snellen list data`", metavar="DATA")
    amounts: tuple[int, ...] = setting(
        "numbers of images: 100,200,400", (), at_least=1, at_most=10**9, commas=True, metavar="N,N,…"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_points(self, "amounts", self.amounts)


@dataclass(frozen=True, kw_only=True)
class GrainRequest(TrainingSweepRequest):
    """Train to tell finer and finer classes apart."""

    data: DataLike | None = setting("dataset to train on; see `snellen list data`", metavar="DATA")
    grains: tuple[int, ...] = setting(
        "sub-classes per class to tell apart: 1,2,4", (), at_least=1, at_most=10**6, commas=True, metavar="N,N,…"
    )
    groups: GroupsLike | None = setting("JSON {coarse: [fine, …]} or CSV with columns fine, coarse", metavar="FILE")
    tree: bool = setting("coarse classes are the top of the dataset's own tree", False)
    by: str | None = setting("column whose values divide the dataset's classes", metavar="COLUMN")
    groups_seed: int = setting("seed of the order in which sub-classes are put together", 0, at_most=2**63 - 1)
    rule: Literal["argmax", "mean", "sum"] = setting("how answers become coarse", "argmax")

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_points(self, "grains", self.grains)


@dataclass(frozen=True, kw_only=True)
class MethodsRequest(GapRequest):
    """Ask models that are trained already."""

    models: tuple[NamedModel, ...] = setting(MODELS, (), metavar="NAME=MODEL")


@dataclass(frozen=True, kw_only=True)
class DomainsRequest(SweepRequest):
    """Ask models about several datasets that have the same classes."""

    models: tuple[NamedModel, ...] = setting(MODELS, (), metavar="NAME=MODEL")
    source: str | None = setting(
        "the test from the domain that the models were trained on; default the first", metavar="NAME"
    )


@dataclass(frozen=True, kw_only=True)
class MatrixRequest(Request):
    """Fine-tune networks alike, each with the best settings of its grid, and audit all of them together."""

    matrix: Path | None = setting(
        "YAML file of rows, such as examples/matrices/phantom.yaml", metavar="FILE", required=True
    )
    data: DataLike | None = setting("unoccluded images to train on: 'manifest:iruo/train.csv?level=0'", metavar="DATA")
    test: DataLike | None = setting("dataset to audit on; nothing is chosen by it", metavar="DATA")
    out: Path | None = setting("folder for networks, answers, table and page", metavar="DIR", written=True)
    runs: int = setting("number of runs of each row, which differ in seed", 1, at_least=1, at_most=10_000)
    holdout: float = setting(
        "share of the training data that grids are judged by, in whole groups", 0.1, above=0, below=1
    )
    audits: tuple[str, ...] = setting(
        "audits to run; default occluders, which the table is read from", (), metavar="AUDITS"
    )
    occluders: Path | None = setting(
        "folder of your own cut-outs for the audits: PNGs with transparency", metavar="DIR"
    )
    limit: int | None = setting("audit on at most N images", at_least=1, at_most=10**9)
    device: str | None = setting("cpu, cuda, cuda:1, mps or auto", metavar="DEVICE")
    engine: Literal["local", "ray"] = setting("local, or ray: trials side by side, on many machines", "local")
    address: str | None = setting("address of a running Ray cluster; default: start one here", metavar="HOST:PORT")
    actors: int | None = setting("trainings at a time on Ray; default as many as fit", at_least=1, at_most=10_000)
    cpus_per_actor: int | None = setting("CPUs per training on Ray; default 1", at_least=1, at_most=10_000)
    timed: bool = setting("with --dry-run: time some steps of every network and estimate the hours", False, once=True)
    dry_run: bool = setting("print rows, trials and cost, and stop", False, once=True)
    plugins: tuple[str, ...] = plugin_setting()
    quiet: bool = setting("print nothing but errors", False, short="-q")

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, example in (
            ("data", "'phantom:train?level=none'"),
            ("test", "phantom:test"),
            ("out", "sweeps/matrix"),
        ):
            if getattr(self, name) is None or getattr(self, name) == "":
                raise UserError(f"no {name} given; for example {option(name)} {example}")
        if self.address is not None and self.engine != "ray":
            raise UserError(f"{option('address')} {self.address} needs {option('engine')} ray")

    @property
    def folder(self) -> Path:
        """Where everything goes."""
        assert self.out is not None
        return self.out

    @property
    def file(self) -> Path:
        """The file of rows."""
        assert self.matrix is not None
        return self.matrix


def _check_points(request: AmountRequest | GrainRequest, name: str, values: tuple[int, ...]) -> None:
    if request.data is None or request.data == "":
        raise UserError("no data given; for example: --data folder:photos (see `snellen list data`)")
    if not values:
        raise UserError(f"no {name} given; for example: --{name} 1,2,4")
    if len(set(values)) < len(values):
        raise UserError(f"--{name} names a number twice: {','.join(map(str, values))}")


def _gap(text: GapLike) -> tuple[str, str]:
    names = [name.strip() for name in text.split(",")] if isinstance(text, str) else list(text)
    if len(names) != 2 or not all(names):
        raise UserError(f"expected --gap FIRST,SECOND, the names of two tests, got '{text}'")
    return names[0], names[1]
