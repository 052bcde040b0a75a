"""What an audit should do: every setting once, for `snellen audit`, its settings files and `snellen.audit(...)`.

`snellen search` and `snellen dissect` are audits with settings of their own beside these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from snellen.check.condition import Condition, parse_condition
from snellen.errors import UserError, option
from snellen.request import Request, plugin_setting, setting

if TYPE_CHECKING:
    from snellen.audits import Audit
    from snellen.data import Dataset
    from snellen.data.occluders import Occluders

    ModelLike = object  # a text, a Model, a torch module, any callable, or a Named one of these
    DataLike = str | Dataset
    AuditLike = str | Audit
    OccludersLike = str | Path | Occluders
else:  # what Python may pass beyond texts is not imported for --help
    ModelLike = DataLike = AuditLike = OccludersLike = object


@dataclass(frozen=True)
class NamedModel:
    """A model made in Python with the name it goes by; several of one name are its runs."""

    name: str
    model: object


@dataclass(frozen=True, kw_only=True)
class AuditRequest(Request):
    """The settings of one audit. Add one here, and the command line, settings files and Python all take it."""

    models: tuple[ModelLike, ...] = setting("model to audit; see `snellen list models`", ())
    data: DataLike | None = setting("test images; see `snellen list data`", metavar="DATA")
    audits: tuple[AuditLike, ...] | None = setting(
        "audits to run, such as 'occlusion,interference(grid=4)'; default: occlusion and interference, background where the "
        "data have masks or boxes, shape where they are cue conflicts",
        metavar="AUDITS",
    )
    train: DataLike | None = setting("training data, for audits that compare with them", metavar="DATA")
    donors: DataLike | None = setting("dataset whose images may be pasted into others (fill=donor)", metavar="DATA")
    occluders: OccludersLike | None = setting("folder of your own cut-outs: PNGs with transparency", metavar="DIR")
    labels: Path | None = setting("label map (JSON) from the model's classes to the dataset's", metavar="FILE")
    out: Path | None = setting(
        "run folder; default runs/MODELS-on-DATA, in Python a temporary one", metavar="DIR", written=True
    )
    engine: Literal["local", "ray"] = setting("local, or ray for many machines", "local")
    address: str | None = setting("address of a running Ray cluster; default: start one here", metavar="HOST:PORT")
    actors: int | None = setting(
        "number of Ray actors; default one per GPU, or as many as fit", at_least=1, at_most=10_000
    )
    cpus_per_actor: int | None = setting("CPUs per Ray actor; default 1", at_least=1, at_most=10_000)
    shard_timeout: float | None = setting(
        "give up on a shard after this many seconds (retried on Ray, ends a local run)",
        above=0,
        at_most=10**7,
        metavar="SECONDS",
    )
    require: tuple[str, ...] = setting("fail (exit 1) if this does not hold, such as 'accuracy > 0.9'", ())
    undecided: Literal["fail", "pass", "warn"] = setting(
        "what becomes of a requirement that so few images do not decide", "warn"
    )
    keep: Literal["top5", "logits"] | None = setting("store more of each answer: the best five classes, or all logits")
    limit: int | None = setting("show at most N images", at_least=1, at_most=10**9)
    batch_size: Literal["auto"] | int = setting("images per forward pass", "auto", at_least=1, at_most=10**6)
    device: str | None = setting("cpu, cuda, cuda:1, mps or auto", metavar="DEVICE")
    compile: Literal["auto", "on", "off"] = setting(
        "compile torch networks first; auto: on a GPU, where so many images are shown that it pays", "auto"
    )
    seed: int = setting("seed of all random draws; default 0", 0, at_most=2**63 - 1)
    threads: int | None = setting(
        "threads that decode images; default 4, up to 32 with a GPU", at_least=1, at_most=1024
    )
    shard: int | None = setting(
        "images per shard, the unit that is stored; default 512 small or 64 large ones on a CPU, a batch on a GPU",
        at_least=1,
        at_most=10**6,
    )
    dry_run: bool = setting("print the plan and stop", False, once=True)
    fresh: bool = setting("discard what the run folder holds", False, once=True)
    strict: bool = setting("stop with exit 2 on any warning", False)
    plugins: tuple[str, ...] = plugin_setting()
    offline: bool = setting("use only weights that are already downloaded", False)
    report: bool = setting("write the report", True)
    quiet: bool = setting("print nothing but errors", False, short="-q")

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "models", tuple(_flatten(self.models)))
        if not self.models:
            raise UserError("no model given; for example: snellen audit timm:resnet18.a1_in1k --data folder:photos")
        if self.data is None or self.data == "":
            raise UserError("no data given; for example: --data folder:photos (see `snellen list data`)")
        if self.engine != "ray":
            for name in ("address", "actors", "cpus_per_actor"):
                if getattr(self, name) is not None:
                    raise UserError(f"{option(name)} needs {option('engine')} ray")
        for text in self.require:
            parse_condition(text)
        if self.audits is not None:
            from snellen.audits import parse_audits  # not above: --help lists these settings and should be fast

            parse_audits(self.audits)  # here, so that an error names the file that the audits come from

    @property
    def conditions(self) -> list[Condition]:
        """What `require` demands of the findings."""
        return [parse_condition(text) for text in self.require]

    def with_audit(self, audit: str) -> AuditRequest:
        """The plain request that also carries out this audit, given as text, which settings.yaml keeps."""
        settings = {field.name: getattr(self, field.name) for field in fields(AuditRequest)}
        return AuditRequest(**{**settings, "audits": (*(self.audits or ()), audit)})


@dataclass(frozen=True, kw_only=True)
class EditSearchRequest(AuditRequest):
    """The settings of one search for worst-case edits. Those that are not given are the protocol's, else the audit's own."""

    protocol: Literal["mnist", "cifar10", "camvid", "faces"] | None = setting(
        "settings as published by Volpi & Murino (2019), of which others win"
    )
    scale: float = setting("shorten a protocol to this share, as the results will say", 1.0, above=0, at_most=1)
    set: str | None = setting("edits to combine: mnist, cifar10, camvid, faces … or a YAML file", metavar="NAME|FILE")
    length: int | None = setting("number of edits in a tuple", at_least=1, at_most=1000)
    algorithm: Literal["es", "es_climb"] | None = setting("search algorithm; default es, as published")
    evaluations: int | None = setting("tuples that each search tries", at_least=1, at_most=10_000_000)
    random: int | None = setting("random tuples before the search", at_least=0, at_most=10_000_000)
    restarts: int | None = setting("searches, of which the worst tuple counts", at_least=1, at_most=1000)
    images: int | None = setting("test images that a search looks at; 0 for all", at_least=0, at_most=10**9)
    subsets: int | None = setting("sets of so many images, searched one by one; means count", at_least=1, at_most=100)
    population: int | None = setting("tuples of one generation", at_least=2, at_most=100_000)
    mutation: float | None = setting("probability that an edit mutates", at_least=0, at_most=1)
    selection: Literal["difference", "inverse"] | None = setting(
        "how parents are drawn: by 1 − accuracy, or 1 / accuracy"
    )
    genes: Literal["type", "object"] | None = setting("how edits are drawn: by their type first, or all alike")
    constraint: str | None = setting("allow only edits that keep the content: 'ssim(0.8)' or 'edges(0.7)'")
    references: bool | None = setting("attack with negatives and shifted hues as well")

    def as_audit(self) -> AuditRequest:
        """The audit that carries the search out, after any others that were named."""
        from snellen.audits.shift_protocols import published_shift

        own = {field.name for field in fields(AuditRequest)}
        names = [field.name for field in fields(self) if field.name not in own | {"protocol", "scale"}]
        chosen = {name: value for name in names if (value := getattr(self, name)) is not None}
        try:
            return self.with_audit(str(published_shift(self.protocol, self.scale, **chosen)))
        except ValueError as error:  # as of an audit's text
            raise UserError(str(error)) from None


@dataclass(frozen=True, kw_only=True)
class DissectRequest(AuditRequest):
    """The settings of one dissection."""

    layer: str | None = setting(
        "layer to look into: a name, -2 (stages from the end) or stage3; default the last stage"
    )
    concepts: tuple[str, ...] = setting(
        "where concepts come from: data, colours, labels:DIR or model:TEXT?categories=FILE, the table of its classes that are no "
        "objects; default colours, and data where they know some",
        (),
        metavar="SOURCE",
    )
    quantile: float = setting("quantile of a unit's values above which its mask is", 0.99, above=0, at_most=0.9999999)
    threshold: float = setting("IoU above which a unit detects a concept", 0.04, at_least=0, at_most=1)
    grid: int = setting("cells per side on which units and concepts are compared", 56, at_least=1, at_most=512)

    def as_audit(self) -> AuditRequest:
        """The audit that carries the dissection out, after any others that were named."""
        from snellen.audits.concepts import ConceptsAudit
        from snellen.explain.picture import as_layer

        concepts = ConceptsAudit(as_layer(self.layer), self.concepts, self.quantile, self.threshold, self.grid)
        return self.with_audit(str(concepts))


def _flatten(models: tuple[ModelLike, ...]) -> Iterator[ModelLike]:
    """One entry per run: a dictionary from names to one or several becomes `name=text`, or the named model."""
    for model in models:
        if not isinstance(model, Mapping):
            yield model
            continue
        for name, runs in model.items():
            for run in runs if isinstance(runs, list | tuple) else (runs,):
                yield f"{name}={run}" if isinstance(run, str) else NamedModel(str(name), run)
