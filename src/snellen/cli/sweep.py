"""The `snellen sweep` commands: parse, call one function of the library, print."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from snellen.cli.options import AsJson, Quiet
from snellen.errors import UserError

sweep = typer.Typer(
    help="Train on data that differ in one thing, and see what that changes. A sweep that was stopped goes on.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Arch = Annotated[str, typer.Argument(help="the network, such as smallnet or preact_resnet18")]
Tests = Annotated[list[str] | None, typer.Option("--test", help="NAME=DATA to ask about; several times")]
Out = Annotated[Path, typer.Option(help="where networks, answers, table and page go")]
Runs = Annotated[int, typer.Option(help="how many runs of each training, that differ in seed")]
Gaps = Annotated[
    list[str] | None, typer.Option("--gap", help="FIRST,SECOND tests to subtract; default mixed_same,mixed_rand")
]
RecipeName = Annotated[
    str | None,
    typer.Option("--recipe", help="recipe of snellen train: fast, xiao2021, xiao2021-small …, or a YAML file"),
]
Epochs = Annotated[int | None, typer.Option(help="how often every image is seen")]
Mix = Annotated[str | None, typer.Option(help="none, cutmix, mixup …")]
Robust = Annotated[str | None, typer.Option(help="'pgd(radius=0.03)', 'groupdro(groups=label*scene)'")]
Change = Annotated[list[str] | None, typer.Option("--set", help="any other setting: --set lr=0.1")]
Limit = Annotated[int | None, typer.Option(help="ask about at most N images of each test")]
Device = Annotated[str | None, typer.Option(help="cpu, cuda, cuda:1, mps or auto")]
Seed = Annotated[int | None, typer.Option(help="seed of the first run; default 0")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="say how many trainings and audits, and stop")]


@sweep.command(
    epilog="Example: snellen sweep variants smallnet --train biased='phantom:train?background_bias=1' "
    "--train plain=phantom:train --test mixed_same='phantom:test?background_bias=1' --test mixed_rand=phantom:test --out grid"
)
def variants(
    arch: Arch,
    out: Out,
    train: Annotated[list[str] | None, typer.Option("--train", help="NAME=DATA to train on; several times")] = None,
    test: Tests = None,
    in9: Annotated[Path | None, typer.Option(help="a folder of variants: train and test on each of them")] = None,
    in9_test: Annotated[Path | None, typer.Option(help="test on the variants of this folder instead")] = None,
    runs: Runs = 1,
    gap: Gaps = None,
    recipe: RecipeName = None,
    epochs: Epochs = None,
    mix: Mix = None,
    robust: Robust = None,
    change: Change = None,
    limit: Limit = None,
    device: Device = None,
    seed: Seed = None,
    dry_run: DryRun = False,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Train on each of some data and test on each of others: the grid of Xiao et al. 2021, table 5."""
    from snellen.cli.sweep_output import run_sweep
    from snellen.sweep.grid import variants_plan
    from snellen.sweep.in9 import in9_variants

    if in9_test is not None and in9 is None:
        raise UserError("--in9-test needs --in9, the folder to train on")
    learnt, shown = in9_variants(in9, in9_test) if in9 is not None else ([], [])
    made = _recipe(recipe, change, arch=arch, epochs=epochs, mix=mix, robust=robust, seed=seed)
    plan = variants_plan(
        made, [*learnt, *(train or [])], [*shown, *(test or [])], out, runs, gaps=_gaps(gap), limit=limit, device=device
    )
    run_sweep(plan, _said(), dry_run=dry_run, as_json=json, quiet=quiet)


@sweep.command(
    epilog="Example: snellen sweep amount smallnet --data 'phantom:train?background_bias=0.9' --amounts 250,500,1000,2000 "
    "--test mixed_same='phantom:test?background_bias=1' --test mixed_rand=phantom:test --out amounts"
)
def amount(
    arch: Arch,
    out: Out,
    data: Annotated[str, typer.Option(help="what is learnt from; see `snellen list data`")],
    amounts: Annotated[str, typer.Option(help="numbers of images, separated by commas: 100,200,400")],
    test: Tests = None,
    runs: Runs = 1,
    gap: Gaps = None,
    recipe: RecipeName = None,
    epochs: Epochs = None,
    mix: Mix = None,
    robust: Robust = None,
    change: Change = None,
    limit: Limit = None,
    device: Device = None,
    seed: Seed = None,
    dry_run: DryRun = False,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Train on more and more of some data: Xiao et al. 2021, figures 3, 11 and 12. Smaller sets are part of larger ones."""
    from snellen.cli.sweep_output import run_sweep
    from snellen.sweep.amounts import amount_plan

    made = _recipe(recipe, change, arch=arch, epochs=epochs, mix=mix, robust=robust, seed=seed)
    plan = amount_plan(
        made, data, _numbers(amounts, "--amounts"), test or [], out, runs, gaps=_gaps(gap), limit=limit, device=device
    )
    run_sweep(plan, _said(), dry_run=dry_run, as_json=json, quiet=quiet)


@sweep.command(
    epilog="Example: snellen sweep grain smallnet --data 'phantom:train?background_bias=0.9' --by texture --grains 1,2,4 "
    "--test mixed_same='phantom:test?background_bias=1' --test mixed_rand=phantom:test --out grains"
)
def grain(
    arch: Arch,
    out: Out,
    data: Annotated[str, typer.Option(help="what is learnt from; see `snellen list data`")],
    grains: Annotated[str, typer.Option(help="sub-classes a class to tell apart, separated by commas: 1,2,4")],
    groups: Annotated[
        Path | None, typer.Option(help="JSON {coarse: [fine, …]} or CSV with columns fine, coarse")
    ] = None,
    tree: Annotated[bool, typer.Option("--tree", help="coarse classes are the top of the data's own tree")] = False,
    by: Annotated[str | None, typer.Option(help="a column whose values divide the data's classes")] = None,
    groups_seed: Annotated[int, typer.Option(help="the order in which sub-classes are put together")] = 0,
    rule: Annotated[str, typer.Option(help="how answers become coarse: argmax, sum or mean")] = "argmax",
    test: Tests = None,
    runs: Runs = 1,
    gap: Gaps = None,
    recipe: RecipeName = None,
    epochs: Epochs = None,
    mix: Mix = None,
    robust: Robust = None,
    change: Change = None,
    limit: Limit = None,
    device: Device = None,
    seed: Seed = None,
    dry_run: DryRun = False,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Train to tell finer and finer classes apart, and test on the coarse ones: Xiao et al. 2021, figure 10."""
    from snellen.cli.sweep_output import run_sweep
    from snellen.sweep.grain import grain_plan

    made = _recipe(recipe, change, arch=arch, epochs=epochs, mix=mix, robust=robust, seed=seed)
    plan = grain_plan(
        made, data, _numbers(grains, "--grains"), test or [], out, runs, groups=groups, tree=tree, by=by,
        seed=groups_seed, rule=rule, gaps=_gaps(gap), limit=limit, device=device,
    )  # fmt: skip
    run_sweep(plan, _said(), dry_run=dry_run, as_json=json, quiet=quiet)


@sweep.command(
    epilog="Example: snellen sweep methods plain='models/plain/*.safetensors' cutmix='models/cutmix/*.safetensors' "
    "--test mixed_same='phantom:test?background_bias=1' --test mixed_rand=phantom:test --out methods"
)
def methods(
    models: Annotated[
        list[str], typer.Argument(help="NAME=MODEL, trained already; a glob is one model of several runs")
    ],
    out: Out,
    test: Tests = None,
    gap: Gaps = None,
    limit: Limit = None,
    device: Device = None,
    dry_run: DryRun = False,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Draw mixed_same against mixed_rand for models that are trained already: Xiao et al. 2021, figure 13."""
    from snellen.cli.sweep_output import run_sweep
    from snellen.sweep.methods import methods_plan

    plan = methods_plan(models, test or [], out, gaps=_gaps(gap), limit=limit, device=device)
    run_sweep(plan, _said(), dry_run=dry_run, as_json=json, quiet=quiet)


def _recipe(name: str | None, changes: Sequence[str] | None, **settings: Any) -> Any:
    from snellen.cli.train_output import chosen_recipe

    held: Mapping[str, Any] = settings
    return chosen_recipe(name, held, changes or [])


def _numbers(text: str, flag: str) -> list[int]:
    try:
        return [int(part.replace("_", "")) for part in text.split(",")]
    except ValueError:
        raise UserError(f"expected {flag} as whole numbers separated by commas, got '{text}'") from None


def _gaps(texts: Sequence[str] | None) -> list[tuple[str, str]] | None:
    if not texts:
        return None
    pairs = []
    for text in texts:
        first, comma, second = text.partition(",")
        if not (comma and first.strip() and second.strip()) or "," in second:
            raise UserError(f"expected --gap FIRST,SECOND, the names of two tests, got '{text}'")
        pairs.append((first.strip(), second.strip()))
    return pairs


def _said() -> list[str]:
    return ["snellen", *sys.argv[1:]]
