"""The command line: parse, call one function of the library, print."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from snellen.cli.build import build
from snellen.cli.options import AsJson, Quiet
from snellen.cli.sweep import sweep
from snellen.errors import UserError

app = typer.Typer(
    name="snellen",
    help="An eye exam for vision models: what they rely on, what breaks them, and which conclusions can be trusted.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

Out = Annotated[Path | None, typer.Option(help="the run folder; default runs/MODELS-on-DATA")]


@app.command(epilog="Example: snellen audit timm:resnet18.a1_in1k --data folder:photos --limit 500")
def audit(
    models: Annotated[list[str] | None, typer.Argument(help="who is asked; see `snellen list models`")] = None,
    data: Annotated[str | None, typer.Option(help="what is shown; see `snellen list data`")] = None,
    audits: Annotated[
        str | None,
        typer.Option(
            help="for example 'occlusion,interference(grid=4)'; default: occlusion and interference, background where the data "
            "have masks or boxes, shape where they are cue conflicts"
        ),
    ] = None,
    train: Annotated[str | None, typer.Option(help="the training data, for audits that compare with it")] = None,
    donors: Annotated[str | None, typer.Option(help="images that may be pasted (fill=donor)")] = None,
    occluders: Annotated[str | None, typer.Option(help="a folder of your own cut-outs: PNGs with transparency")] = None,
    labels: Annotated[Path | None, typer.Option(help="label map (JSON) from the model's classes to the data's")] = None,
    out: Out = None,
    engine: Annotated[str | None, typer.Option(help="local, or ray for many machines")] = None,
    address: Annotated[str | None, typer.Option(help="a running Ray cluster; default: one on this machine")] = None,
    actors: Annotated[int | None, typer.Option(help="Ray actors; default one per GPU, or as many as fit")] = None,
    cpus_per_actor: Annotated[int | None, typer.Option(help="CPUs of each Ray actor; default 1")] = None,
    shard_timeout: Annotated[
        float | None,
        typer.Option(help="seconds after which a shard counts as hung: asked again on Ray, else the end"),
    ] = None,
    require: Annotated[list[str] | None, typer.Option(help="fail (exit 1) unless it holds: 'accuracy > 0.9'")] = None,
    keep: Annotated[str | None, typer.Option(help="store more of each answer: top5 or logits")] = None,
    limit: Annotated[int | None, typer.Option(help="show at most N images")] = None,
    batch_size: Annotated[str | None, typer.Option(help="images per forward pass, or auto")] = None,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, cuda:1, mps or auto")] = None,
    seed: Annotated[int | None, typer.Option(help="seed of all random draws; default 0")] = None,
    config: Annotated[Path | None, typer.Option(help="settings from a YAML file; flags win")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="print the plan and stop")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="throw away what the folder holds")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="conclude nothing (exit 2) if a check warns")] = False,
    offline: Annotated[bool, typer.Option("--offline", help="use only weights that are already here")] = False,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Ask models about images under distortions and write findings and a report."""
    from snellen.cli.printing import AuditCommand, run_audit

    given = dict(
        models=models, data=data, audits=audits, train=train, donors=donors, occluders=occluders, labels=labels, out=out,
        engine=engine, require=require, keep=keep, limit=limit, batch_size=batch_size, device=device, seed=seed, strict=strict,
        offline=offline, address=address, actors=actors, cpus_per_actor=cpus_per_actor, shard_timeout=shard_timeout,
    )  # fmt: skip
    _finish(run_audit(AuditCommand.of(given, config), dry_run=dry_run, fresh=fresh, as_json=json, quiet=quiet))


@app.command(
    epilog="Example: snellen train preact_resnet18 --data arrays:cifar10.npz --recipe fast --mix cutmix --runs 5 --out cutmix"
)
def train(
    arch: Annotated[str | None, typer.Argument(help="the network, such as smallnet or preact_resnet18")] = None,
    data: Annotated[str | None, typer.Option(help="what is learnt from; see `snellen list data`")] = None,
    test: Annotated[str | None, typer.Option(help="images whose accuracy is measured while training")] = None,
    recipe: Annotated[
        str | None, typer.Option(help="fast, 000, 001, 003, 003-cifar10, 003-camvid, 004, 004-small, or a YAML file")
    ] = None,
    mix: Annotated[str | None, typer.Option(help="none, cutmix, mixup …, with settings: 'cutmix(alpha=1)'")] = None,
    robust: Annotated[
        str | None, typer.Option(help="against an attack: 'pgd(radius=0.03)'; for the worst group: groupdro")
    ] = None,
    groups: Annotated[str | None, typer.Option(help="columns that make groupdro's groups: 'label*scene'")] = None,
    partner: Annotated[str | None, typer.Option(help="mix in images of other data, whose labels do not count")] = None,
    objective: Annotated[str | None, typer.Option(help="classic, or reformulated: only the first label counts")] = None,
    runs: Annotated[int, typer.Option(help="how many runs that differ in seed")] = 1,
    out: Annotated[Path | None, typer.Option(help="where checkpoints go; default models/ARCH-MIX")] = None,
    init: Annotated[Path | None, typer.Option(help="fine-tune: begin with this checkpoint")] = None,
    grid: Annotated[Path | None, typer.Option(help="YAML of setting: [values] to search on held-out images")] = None,
    holdout: Annotated[float, typer.Option(help="share of the data to judge by; with --grid 0.1")] = 0.0,
    every: Annotated[int, typer.Option(help="measure accuracy every so many epochs")] = 1,
    epochs: Annotated[int | None, typer.Option(help="how often every image is seen")] = None,
    updates: Annotated[int | None, typer.Option(help="length in steps instead")] = None,
    batch_size: Annotated[int | None, typer.Option(help="images a step, over all processes")] = None,
    optimiser: Annotated[str | None, typer.Option(help="sgd, adam or rmsprop")] = None,
    lr: Annotated[float | None, typer.Option(help="the highest learning rate")] = None,
    schedule: Annotated[
        str | None, typer.Option(help="onecycle, 'steps(at=[0.5], factor=0.01)', 'every(50)', cosine, constant …")
    ] = None,
    weight_decay: Annotated[float | None, typer.Option(help="how fast weights shrink")] = None,
    smoothing: Annotated[float | None, typer.Option(help="label smoothing, 0 to 1")] = None,
    change: Annotated[list[str] | None, typer.Option("--set", help="any other setting: --set nesterov=true")] = None,
    limit: Annotated[int | None, typer.Option(help="learn from at most N images")] = None,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, cuda:1, mps or auto")] = None,
    seed: Annotated[int | None, typer.Option(help="seed of the first run; default 0")] = None,
    compile: Annotated[
        bool, typer.Option("--compile", help="torch.compile the network: slow to begin, then faster")
    ] = False,
    log: Annotated[str | None, typer.Option(help="tensorboard or mlflow")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="print the settings and stop")] = False,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Train a network, or several runs of it, and leave checkpoints that `snellen audit` takes as one model."""
    from snellen.cli.train_output import chosen_recipe, run_train
    from snellen.train.groupdro import with_groups

    settings = dict(
        arch=arch, mix=mix, robust=with_groups(robust, groups), objective=objective, epochs=epochs, updates=updates,
        batch_size=batch_size, optimiser=optimiser, lr=lr, schedule=schedule, weight_decay=weight_decay,
        smoothing=smoothing, seed=seed,
    )  # fmt: skip
    how = dict(
        test=test, partner=partner, init=init, holdout=holdout, every=every, compile=compile, log=log, device=device
    )
    chosen = chosen_recipe(recipe, settings, change or [])
    _finish(run_train(chosen, data, out, runs, grid, how, limit=limit, dry_run=dry_run, as_json=json, quiet=quiet))


@app.command(epilog="Example: snellen demo --out demo")
def demo(
    out: Annotated[Path, typer.Option(help="where models, answers and the report go")] = Path("demo"),
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Train two small models on the phantom world, audit them and write a report (some minutes on 2 cores)."""
    from snellen.cli.printing import print_run
    from snellen.demo import run_demo

    print_run(run_demo(out, quiet=quiet), as_json=json, quiet=quiet)


@app.command(epilog="Example: snellen calibrate --out calibration --only square_edges")
def calibrate(
    out: Annotated[Path, typer.Option(help="where the runs and calibration.html go")] = Path("calibration"),
    only: Annotated[list[str] | None, typer.Option(help="climb this ladder alone; may be given several times")] = None,
    images: Annotated[int | None, typer.Option(help="images shown on each rung; default 600")] = None,
    trained: Annotated[bool, typer.Option("--trained", help="also train a small network for each rung")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="three rungs a ladder and 120 images")] = False,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Plant more and more of something in the phantom world and see whether the audits measure it."""
    from snellen.calibrate import calibrate
    from snellen.cli.printing import print_calibration

    page = calibrate(out, only or (), images, trained, quick, quiet)
    print_calibration(page, out, as_json=json, quiet=quiet)


@app.command(epilog="Example: snellen report runs/resnet18-on-photos")
def report(
    runs: Annotated[list[Path], typer.Argument(help="run folders", metavar="RUN...")],
    out: Annotated[Path | None, typer.Option(help="write here instead (.html or .md); for one run only")] = None,
) -> None:
    """Write the report of finished runs anew, from their stored answers."""
    from snellen.exam.run import load_run

    if out is not None and len(runs) > 1:
        raise UserError(f"--out takes one run, got {len(runs)}")
    for run in runs:
        print(load_run(run).report(out))


@app.command(
    epilog="Examples: snellen explain timm:resnet18.a1_in1k photo.jpg --layer -2\n\n"
    "snellen explain original='a/*.safetensors' mixed='b/*.safetensors' --data phantom:test --limit 64 --out explained"
)
def explain(
    model: Annotated[str, typer.Argument(help="who is asked; see `snellen list models`")],
    images: Annotated[
        list[str] | None, typer.Argument(help="image files; with --data more models", metavar="IMAGE...")
    ] = None,
    data: Annotated[str | None, typer.Option(help="data with masks: models side by side, and the share inside")] = None,
    limit: Annotated[int, typer.Option(help="with --data: ask about at most N images")] = 64,
    layer: Annotated[str | None, typer.Option(help="where to look: a name, -2 (stages from the end) or stage3")] = None,
    method: Annotated[
        str, typer.Option(help="how to make the maps of image files; see `snellen list methods`")
    ] = "gradcam",
    out: Annotated[
        Path | None, typer.Option(help="the folder for the pictures; default beside each image, with --data explained")
    ] = None,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, cuda:1, mps or auto")] = None,
    json: AsJson = False,
) -> None:
    """Show where in each image torch models look for their answer (Grad-CAM): pictures, or a page of several models."""
    from snellen.cli.printing import print_beside, print_explained
    from snellen.exam.side_by_side import explain_beside
    from snellen.explain import explain_images
    from snellen.models import load_model

    if data is not None:
        beside = explain_beside([model, *(images or [])], data, out or "explained", limit, layer, device)
        print_beside(beside, as_json=json)
        return
    if not images:
        raise UserError("no image given; name image files, or --data with masks")
    explained = explain_images(load_model(model, device), list(map(Path, images)), layer, out, method)
    print_explained(explained, as_json=json)


@app.command("list", epilog="Example: snellen list distortions")
def list_(
    kind: Annotated[str, typer.Argument(help="models, data, distortions, audits or methods (of making maps)")],
    json: AsJson = False,
) -> None:
    """Say what there is."""
    from snellen.catalogue import catalogue
    from snellen.cli.printing import print_pairs

    print_pairs(catalogue(kind), as_json=json)


@app.command(
    epilog='Example: snellen sql runs/a "select distortion, avg(score) from answers join cells using (cell) group by 1"'
)
def sql(
    run: Annotated[Path, typer.Argument(help="a run folder")],
    query: Annotated[str, typer.Argument(help="SQL over the tables cells, samples, shown, answers")],
    json: AsJson = False,
    csv: Annotated[bool, typer.Option("--csv", help="print the result as CSV")] = False,
) -> None:
    """Query every stored answer with SQL (DuckDB)."""
    from snellen.exam.run import load_run

    frame = load_run(run).sql(query)
    if json:
        print(frame.to_json(orient="records", indent=1))
    else:
        print(frame.to_csv(index=False).rstrip("\n") if csv else frame.to_string(index=False))


@app.command(epilog="Example: snellen doctor --json")
def doctor(json: AsJson = False) -> None:
    """Say what this machine has and whether an audit works on it: `ready` (exit 0), or what is wrong (exit 1)."""
    from snellen.cli.printing import print_health
    from snellen.doctor import doctor

    _finish(print_health(doctor(), as_json=json))


app.add_typer(build, name="build")
app.add_typer(sweep, name="sweep")


@app.callback(invoke_without_command=True)
def version_option(version: Annotated[bool, typer.Option("--version", help="print the version")] = False) -> None:
    if version:
        from snellen.version import __version__

        print(__version__)
        raise typer.Exit


def _finish(code: int) -> None:
    if code:
        raise typer.Exit(code)


def main(arguments: list[str] | None = None) -> Any:
    """Run a command; errors the user can fix are one line on stderr and exit code 2."""
    try:
        app(arguments)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("stopped; the same command continues where it was", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
