"""Fine-tune a matrix of networks alike and rank them under occluders (Kassaw et al. 2024).

Each row's grid is searched on held-out training images, whole videos where the data have them; the best settings train its
runs on all training images; then all rows are audited together. Test images are read by the audit alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from snellen.atomic import check_place
from snellen.engine.settings import Cluster
from snellen.exam.auditing import run_audit
from snellen.exam.request import AuditRequest
from snellen.exam.run import Run
from snellen.files import expand_home
from snellen.hashing import key_of
from snellen.lock import own_folder
from snellen.settings_file import resolve, write_settings
from snellen.sweep.ask_point import fingerprints
from snellen.sweep.matrix_plan import MatrixPlan, RowCost, plan_matrix
from snellen.sweep.matrix_rows import MatrixRow, naming
from snellen.sweep.matrix_table import Matrix, TrainedRow, values_of, write_matrix
from snellen.sweep.request import MatrixRequest
from snellen.sweep.trainings_on_ray import Training, train_side_by_side
from snellen.terminal import tell
from snellen.train.grid import GridTrial, search_grid, trial_folder
from snellen.train.init_from import Start
from snellen.train.recipe import Recipe
from snellen.train.runs import train

AUDITS = ("occluders",)


def matrix(matrix: Path | str, data: Any, test: Any, out: Path | str, **settings: Any) -> Matrix | list[RowCost]:
    """The trained and audited matrix of a YAML file of rows; with `dry_run` what each row would cost.

    `data` are unoccluded images to learn from, `test` those of the audit. Trials, networks and answers that are in `out` already
    are kept. Further settings are those of `MatrixRequest`; `config` is a settings file of them.
    """
    config = settings.pop("config", None)
    values = {"matrix": matrix, "data": data, "test": test, "out": out, "quiet": True, **settings}
    request = resolve(MatrixRequest, values, None if config is None else expand_home(config))
    return run_matrix(plan_matrix(request))


def run_matrix(plan: MatrixPlan) -> Matrix | list[RowCost]:
    """Carry a plan out; with `dry_run` only what it costs."""
    request = plan.request
    if request.dry_run:
        return plan.costs()
    check_place(request.folder)
    with own_folder(request.folder, leave=False):
        work = _Work(plan, (lambda text: None) if request.quiet else tell)
        work.check_starts()
        for wave in plan.waves:
            work.train_wave(wave)
        run = _audit(plan, work)
        rows = [work.trained[row.name] for row in plan.rows]
        result = Matrix(request.folder, rows, values_of(run, [row.name for row in rows]), run)
        write_matrix(result)
        write_settings(request.folder / "settings.yaml", request)
    return result


@dataclass
class _Work:
    """What is trained so far: the best trial of each row by name, and its networks."""

    plan: MatrixPlan
    say: Callable[[str], None]
    best: dict[str, GridTrial] = field(default_factory=dict)
    trained: dict[str, TrainedRow] = field(default_factory=dict)
    noted: set[str] = field(default_factory=set)

    def note(self, text: str) -> None:
        """Say what a training notices, once, though every trial repeats it."""
        if text not in self.noted:
            self.noted.add(text)
            self.say(f"note: {text}")

    def check_starts(self) -> None:
        """Weights that cannot be read or downloaded are found before anything is trained."""
        for init, row in {row.init: row for row in self.plan.rows if row.init is not None and not row.parents}.items():
            with naming(row.name):
                Start.of(str(init))

    def train_wave(self, rows: list[MatrixRow]) -> None:
        """Rows that do not begin with each other: on a cluster first all their trials, then all their runs."""
        if self.plan.request.engine == "ray":
            cluster = cluster_of(self.plan.request)
            train_side_by_side([trial for row in rows for trial in self._trials(row)], cluster, self.say)
        chosen = {row.name: self._search(row) for row in rows}
        if self.plan.request.engine == "ray":
            runs = [run for row in rows for run in self._runs(row, chosen[row.name])]
            train_side_by_side(runs, cluster_of(self.plan.request), self.say)
        for row in rows:
            self._train(row, chosen[row.name])

    def _search(self, row: MatrixRow) -> Recipe:
        """The recipe that its grid chooses; trials that are there already are read."""
        if not row.grid:
            return row.recipe
        self.say(f"{row.name}: {row.trials} trials")
        request = self.plan.request
        with naming(row.name):
            trials = search_grid(
                row.recipe, self.plan.data, self._folder(row), row.grid, request.holdout, device=request.device,
                init=self._start(row, trial=True), notice=self.note,
            )  # fmt: skip
        self.best[row.name] = trials[0]
        values = ", ".join(f"{name} {value}" for name, value in trials[0].settings.items())
        self.say(f"{row.name}: best of {len(trials)}: {values} ({trials[0].accuracy:.4f} held out)")
        return replace(trials[0].recipe, seed=row.recipe.seed)

    def _train(self, row: MatrixRow, recipe: Recipe) -> None:
        """Its runs on all training images, with the recipe that its grid chose."""
        request, trial = self.plan.request, self.best.get(row.name)
        init = self._start(row)
        with naming(row.name):
            paths = train(
                recipe,
                self.plan.data,
                self._folder(row),
                request.runs,
                device=request.device,
                init=init,
                notice=self.note,
            )
        self.trained[row.name] = TrainedRow(
            name=row.name, arch=recipe.arch, mix=recipe.mix, robust=recipe.robust, init=init, trials=row.trials,
            chosen=dict(trial.settings) if trial else {}, held_out_accuracy=trial.accuracy if trial else None,
            networks=[str(path) for path in paths],
        )  # fmt: skip

    def _start(self, row: MatrixRow, *, trial: bool = False) -> str | None:
        """What a training of a row begins with.

        Of several rows the one that did best on held-out images. A trial begins with a network that has not learnt these.
        """
        if not row.parents:
            return row.init
        parent = max(row.parents, key=lambda name: self.best[name].accuracy if name in self.best else 0.0)
        return str(self.best[parent].path) if trial else self.trained[parent].networks[0]

    def _folder(self, row: MatrixRow) -> Path:
        return self.plan.request.folder / "models" / row.name

    def _trials(self, row: MatrixRow) -> list[Training]:
        """The trials of a row as trainings of their own."""
        request = self.plan.request
        settings = {"holdout": request.holdout, "device": request.device, "init": self._start(row, trial=True)}
        folders = [(recipe, trial_folder(self._folder(row).absolute(), recipe)) for recipe in row.recipes]
        return [Training(row.name, recipe, self._data, folder, settings) for recipe, folder in folders if row.grid]

    def _runs(self, row: MatrixRow, recipe: Recipe) -> list[Training]:
        """The runs of a row as one training: they share a folder, which has one writer."""
        request = self.plan.request
        settings = {"device": request.device, "init": self._start(row), "runs": request.runs}
        return [Training(row.name, recipe, self._data, self._folder(row).absolute(), settings)]

    @property
    def _data(self) -> Any:
        """The training data as they travel: their text, where they were given so."""
        text = self.plan.request.data
        return text if isinstance(text, str) else self.plan.data


def cluster_of(request: MatrixRequest) -> Cluster:
    """The cluster that a request names."""
    wide = {name: getattr(request, name) for name in ("address", "actors", "cpus_per_actor")}
    return Cluster(**{name: value for name, value in wide.items() if value is not None})


def _audit(plan: MatrixPlan, work: _Work) -> Run:
    """The run of an audit of all rows; its folder's name has the key of their weights, the test images and the audits."""
    request = plan.request
    audits = request.audits or AUDITS
    models = [(row.name, path) for row in plan.rows for path in work.trained[row.name].networks]
    prints = {f"{name}={path}": fingerprints(name, [path]) for name, path in models}
    occluders = None if request.occluders is None else str(request.occluders)
    key = key_of([list(prints.values()), [name for name, _ in models], plan.test.fingerprint, list(audits), occluders])
    work.say(f"auditing {len(models)} networks of {len(plan.rows)} rows")
    cluster = {name: getattr(request, name) for name in ("engine", "address", "actors", "cpus_per_actor")}
    return run_audit(
        AuditRequest(
            models=tuple(prints), data=plan.test, audits=tuple(audits), occluders=request.occluders,
            out=request.folder / "runs" / f"matrix-{key[:8]}", device=request.device, quiet=request.quiet,
            **(cluster if request.engine == "ray" else {}),
        )
    )  # fmt: skip
