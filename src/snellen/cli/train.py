"""`snellen train`: parse, call one function of the library, print."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from snellen.cli.options import AsJson, Quiet, finish


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
    finish(run_train(chosen, data, out, runs, grid, how, limit=limit, dry_run=dry_run, as_json=json, quiet=quiet))
