"""A run: a folder of answers and findings, read back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from snellen.engine.keep.run_folder import RunFolder, check_run
from snellen.engine.keep.shard_file import damaged, is_whole
from snellen.errors import UserError, unknown
from snellen.exam.query import LONGEST_QUERY, mentions, run_query
from snellen.files.plain import place_to_write

if TYPE_CHECKING:
    import pandas as pd

    from snellen.audits.stored_finding import StoredFinding
    from snellen.engine.ask.maps import Maps
    from snellen.engine.requests.map import MapRequest
    from snellen.report.render.notebook import Plot

TABLES = ("cells", "samples", "shown", "answers")
EXTRA = ("trials", "searches", "surveys")  # few audits have them


class Run(RunFolder):
    """What an audit left: its findings, every single answer, and the report."""

    def findings(self) -> pd.DataFrame:
        """One row per finding, its interference in columns that begin with `di`.

        >>> import snellen
        >>> run = snellen.audit("observer:texture", "phantom:test?size=32&n=60&texture_bias=1", "interference([shuffle(2)])",
        ...     out="runs/first", quiet=True)
        >>> run.findings()[["name", "value"]].head(1).to_dict("records")
        [{'name': 'accuracy', 'value': 1.0}]
        """
        from snellen.report.findings import findings_frame

        return findings_frame(self.stored_findings())

    def stored_findings(self) -> list[StoredFinding[Any]]:
        """Every finding with the facts that its audit declares, as attributes.

        >>> import snellen
        >>> run = snellen.audit("observer:texture", "phantom:test?size=32&n=60&texture_bias=1", "interference([shuffle(2)])",
        ...     out="runs/first", quiet=True)
        >>> run.stored_findings()[0].name
        'accuracy'
        """
        from snellen.audits import read_findings

        return read_findings(self.results())

    def predictions(self) -> pd.DataFrame:
        """Every answer with its model, run, distortion, seed, sample, label and class.

        >>> import snellen
        >>> run = snellen.audit("observer:texture", "phantom:test?size=32&n=60&texture_bias=1", "interference([shuffle(2)])",
        ...     out="runs/first", quiet=True)
        >>> run.predictions().query("distortion == 'none()'")["score"].mean().item()
        1.0
        """
        return self.sql(
            'select c.model, c.run, c."on", c.distortion, c.seed, a.sample, s.label, s.class, a.pred, a.raw, a.score, '
            "a.confidence, a.label_prob from answers a join cells c using (cell) join samples s on s.sample = a.sample "
            'and s."on" = c."on" order by c.model, c.run, c."on", c.distortion, c.seed, a.sample'
        )

    def maps(
        self,
        model: str,
        run: int | str = 0,
        method: str = "gradcam",
        layer: int | str | None = None,
        *,
        on: str = "test",
        distortion: Any = "none()",
        seed: int = 0,
    ) -> Maps:
        """The maps of one run of a model (its number or its name), uint16 [samples, H, W] with the `ids` of their samples; those
        that only `salient` asked for, and those of old runs, may be uint8.

        `layer` is as in the audit's request: None for the last stage, else a number or a name.

        >>> import snellen
        >>> run = snellen.audit("observer:texture", "phantom:test?size=32&n=60&texture_bias=1", "interference([shuffle(2)])",
        ...     out="runs/first", quiet=True)
        >>> maps = snellen.audit("observer:texture", "phantom:test?size=32&n=12&texture_bias=1", "inside_mask(method=support)",
        ...     out="runs/maps", quiet=True).maps("texture", method="support")
        >>> maps.maps.shape
        (12, 32, 32)
        """
        from snellen.distort import parse
        from snellen.engine.ask.maps import stored_maps, together
        from snellen.engine.requests.map import MapRequest

        request = MapRequest(method, layer, on, parse(distortion), seed)
        self.check_files(["maps"])
        return together(stored_maps(self.store, self.map_key(model, run, request)))

    def map_key(self, model: str, run: int | str, request: MapRequest) -> str:
        """The key under which the maps of a request are stored for one run of a model."""
        facts = {name: getattr(request, name) for name in ("on", "method", "layer", "seed")}
        facts |= {"distortion": str(request.distortion), "model_fingerprint": self._card(model, run)["fingerprint"]}
        keys = [key for key in self.store.map_keys(**facts) if self.store.map_shards(key)]
        if not keys:
            raise UserError(
                f"{self.path} has no maps of '{model}' by {request}; they are there after an audit that asks for them, "
                "such as inside_mask or interference([salient(0.3)])"
            )
        return keys[0]

    def _card(self, model: str, run: int | str) -> dict[str, Any]:
        """The card of one run of a model."""
        facts = self.facts
        if model not in facts["models"]:
            raise unknown("model", model, list(facts["models"]))
        runs = list(facts["models"][model])
        if isinstance(run, int) and not 0 <= run < len(runs):
            raise UserError(f"expected a run of '{model}' from 0 to {len(runs) - 1}, got {run}")
        name = runs[run] if isinstance(run, int) else run
        if name not in runs:
            raise unknown(f"run of '{model}'", name, runs)
        return dict(facts["models"][model][name])

    def flips(
        self,
        other: Run | None = None,
        models: Sequence[str] | None = None,
        *,
        on: str = "test",
        distortion: Any = "none()",
    ) -> pd.DataFrame:
        """The images that only one of two models gets right, a row each: sample, class, which is right, what each says.

        The two are the models of this run (or the two of them that `models` names), or a model here and its version in another
        run of the same images.

        >>> import snellen
        >>> run = snellen.audit("observer:texture", "phantom:test?size=32&n=60&texture_bias=1", "interference([shuffle(2)])",
        ...     out="runs/first", quiet=True)
        >>> both = snellen.audit(["observer:texture", "observer:shape"], "phantom:test?size=32&n=60", "calibration",
        ...     out="runs/two", quiet=True)
        >>> set(both.flips()["right"])
        {'shape'}
        """
        from snellen.exam.comparing import flips_frame

        return flips_frame(self, other, models, on, str(distortion))

    def sql(self, query: str, timeout: float = LONGEST_QUERY) -> pd.DataFrame:
        """The result of an SQL query over the tables cells, samples, shown and answers, and trials, searches and surveys where
        there are any.

        It may read these tables and nothing else of this machine, and change nothing; it ends after `timeout` seconds.

        >>> import snellen
        >>> run = snellen.audit("observer:texture", "phantom:test?size=32&n=60&texture_bias=1", "interference([shuffle(2)])",
        ...     out="runs/first", quiet=True)
        >>> run.sql("select count(*) as images from samples")["images"].item()
        60
        """
        if not timeout > 0:
            raise UserError(f"expected timeout above 0 s, got {timeout:g}")

        tables = {table: self.store.files(table) for table in (*TABLES, *EXTRA)}
        for table, files in tables.items():
            if not files and table not in EXTRA:
                raise UserError(f"{self.path} holds no {table} yet; is it a run folder?")
        chosen = [table for table in tables if mentions(query, table)] or list(tables)  # only these are opened
        self._check(chosen, tables)
        return run_query(query, {table: tables[table] for table in chosen if tables[table]}, timeout)

    def _check(self, names: Sequence[str], tables: Mapping[str, Sequence[Path]]) -> None:
        """Refuse tables of which a file is missing or is not what it was written as."""
        self.check_files(names)
        if "cells" in names:
            self.store.cells()
        files = [file for name in names if name != "cells" for file in tables[name]]
        with ThreadPoolExecutor(max_workers=2) as pool:
            for file, whole in zip(files, pool.map(is_whole, files)):
                if not whole:
                    raise damaged(file)

    def report(self, path: Path | str | None = None, format: str | None = None) -> Path:
        """Write the report (HTML, or Markdown where the name ends in .md); its path.

        Other formats are `card` (a section of a model card), `hf` (Hugging Face's evaluation results) and `badge` (SVG).

        >>> import snellen
        >>> run = snellen.audit("observer:texture", "phantom:test?size=32&n=60&texture_bias=1", "interference([shuffle(2)])",
        ...     out="runs/first", quiet=True)
        >>> run.report("report.md").name
        'report.md'
        """
        from snellen.report import write_as, write_report

        if format is not None:
            return write_as(self, format, place_to_write(path) if path else None)
        return write_report(self, place_to_write(path) if path else self.path / "report.html")

    def export(self, path: Path | str | None = None, format: str | None = None) -> Path:
        """Write every answer for other programs; the path.

        `csv` and `parquet` are one table, which `predictions:` reads again; `fiftyone` is a folder that FiftyOne reads, and `hf`
        one that Hugging Face's `datasets` reads, with the findings. Without a format the ending of the path names it.

        >>> import snellen
        >>> run = snellen.audit("observer:texture", "phantom:test?size=32&n=60&texture_bias=1", "interference([shuffle(2)])",
        ...     out="runs/first", quiet=True)
        >>> run.export("answers.csv").name
        'answers.csv'
        """
        from snellen.export import export_run

        return export_run(self, place_to_write(path) if path else None, format)

    def plot(self, name: str) -> Plot:
        """The charts of one audit, such as `occlusion`, as its report has them; a notebook shows them.

        >>> import snellen
        >>> run = snellen.audit("observer:black(otherwise=texture)", "phantom:test?size=32&n=60&texture_bias=1",
        ...     "occlusion([0.3], [black])", out="runs/squares", quiet=True)
        >>> run.plot("occlusion").titles
        ('black squares',)
        """
        from snellen.report.render.notebook import plot_of
        from snellen.report.results import Results

        return plot_of(Results.of(self), name)

    def _repr_html_(self) -> str | None:
        """The first screen, for notebooks; None, and so the plain form, while the run has no findings."""
        from snellen.report.render.notebook import run_html
        from snellen.report.results import Results

        if not (self.path / "findings.json").exists():
            return None
        return run_html(Results.of(self))

    def figures(self, path: Path | str, kind: str = "svg") -> list[Path]:
        """Write every chart of the report into a folder, as `svg` or `png`; their paths.

        >>> import snellen
        >>> run = snellen.audit("observer:texture", "phantom:test?size=32&n=60&texture_bias=1", "interference([shuffle(2)])",
        ...     out="runs/first", quiet=True)
        >>> [path.suffix for path in run.figures("figures")][:1]
        ['.svg']
        """
        from snellen.report import write_figures

        return write_figures(self, place_to_write(path), kind)

    def keep(self, path: Path | str) -> Self:
        """Move a temporary run to a path, where it stays; others, which have a folder of their own, refuse it.

        >>> import snellen
        >>> run = snellen.audit("observer:texture", "phantom:test?size=32&n=12&texture_bias=1", "calibration", quiet=True)
        >>> run.keep("runs/kept").path.as_posix()
        'runs/kept'
        """
        raise UserError(f"this run is kept already, in '{self.path}'; copy that folder to have it at '{path}' too")


def load_run(path: Path | str) -> Run:
    """The run in a folder.

    >>> from snellen import audit, load_run
    >>> _ = audit("observer:texture", "phantom:test?size=32&n=240&texture_bias=1", "occlusion",
    ...     out="runs/first", quiet=True)
    >>> load_run("runs/first").predictions()["sample"].nunique()
    240
    """
    run = Run(check_run(path))
    _ = run.facts  # one that is damaged is refused here
    return run
