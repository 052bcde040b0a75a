"""`snellen sweep`: make a request of the options and the settings file, carry it out, print."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from snellen.cli.options import AsJson, Config, epilog, takes
from snellen.settings_file import resolve
from snellen.sweep.request import (
    AmountRequest,
    DomainsRequest,
    GrainRequest,
    MatrixRequest,
    MethodsRequest,
    SweepRequest,
    VariantsRequest,
)
from snellen.terminal import show, show_json
from snellen.train.recipe import Recipe
from snellen.train.request import resolve_training

if TYPE_CHECKING:
    from snellen.sweep.points import SweepPlan
    from snellen.sweep.result import Sweep
    from snellen.sweep.run_sweep import Left

sweep = typer.Typer(
    help="Train on data that differ in one thing, and see what that changes. A sweep that was stopped resumes.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
_TESTS = "--test mixed_same='phantom:test?background_bias=1' --test mixed_rand=phantom:test"


@sweep.command(
    epilog=epilog(
        "snellen sweep variants smallnet --train biased='phantom:train?background_bias=1' --train plain=phantom:train "
        f"{_TESTS} --out grid"
    )
)
@takes(VariantsRequest, Recipe, arguments=("arch",))
def variants(settings: Mapping[str, Any], config: Config = None, json: AsJson = False) -> None:
    """Train on each of some datasets and test on each of others (Xiao et al. 2021, table 5)."""
    from snellen.sweep.by_variant import plan_variants

    request = resolve_training(VariantsRequest, settings, config)
    run_sweep(plan_variants(request), request, as_json=json)


@sweep.command(
    epilog=epilog(
        "snellen sweep amount smallnet --data 'phantom:train?background_bias=0.9' --amounts 250,500,1000,2000 "
        f"{_TESTS} --out amounts"
    )
)
@takes(AmountRequest, Recipe, arguments=("arch",))
def amount(settings: Mapping[str, Any], config: Config = None, json: AsJson = False) -> None:
    """Train on more and more of a dataset; smaller sets are part of larger ones (Xiao et al. 2021, figures 3, 11, 12)."""
    from snellen.sweep.by_amount import plan_amounts

    request = resolve_training(AmountRequest, settings, config)
    run_sweep(plan_amounts(request), request, as_json=json)


@sweep.command(
    epilog=epilog(
        "snellen sweep grain smallnet --data 'phantom:train?background_bias=0.9' --by texture --grains 1,2,4 "
        f"{_TESTS} --out grains"
    )
)
@takes(GrainRequest, Recipe, arguments=("arch",))
def grain(settings: Mapping[str, Any], config: Config = None, json: AsJson = False) -> None:
    """Train to tell finer and finer classes apart, and test on the coarse ones (Xiao et al. 2021, figure 10)."""
    from snellen.sweep.by_grain import plan_grains

    request = resolve_training(GrainRequest, settings, config)
    run_sweep(plan_grains(request), request, as_json=json)


@sweep.command(
    epilog=epilog(
        "snellen sweep methods plain='models/plain/*.safetensors' cutmix='models/cutmix/*.safetensors' "
        f"{_TESTS} --out methods"
    )
)
@takes(MethodsRequest, arguments=("models",))
def methods(settings: Mapping[str, Any], config: Config = None, json: AsJson = False) -> None:
    """Draw mixed_same against mixed_rand for models that are trained already (Xiao et al. 2021, figure 13)."""
    from snellen.sweep.by_method import plan_methods

    request = resolve(MethodsRequest, settings, config)
    run_sweep(plan_methods(request), request, as_json=json)


@sweep.command(
    epilog=epilog(
        "snellen sweep domains shape=observer:shape scene=observer:background "
        "--test source='phantom:test?background_bias=1' --test other=phantom:test --out domains"
    )
)
@takes(DomainsRequest, arguments=("models",))
def domains(settings: Mapping[str, Any], config: Config = None, json: AsJson = False) -> None:
    """Ask trained models about datasets of the same classes: their own domain, and those they have not seen."""
    from snellen.sweep.by_domain import plan_domains

    request = resolve(DomainsRequest, settings, config)
    run_sweep(plan_domains(request), request, as_json=json)


@sweep.command(
    epilog=epilog(
        "snellen sweep matrix rows.yaml --data 'manifest:iruo/train.csv?level=0' --test manifest:iruo/val.csv --out matrix"
    )
)
@takes(MatrixRequest, arguments=("matrix",))
def matrix(settings: Mapping[str, Any], config: Config = None, json: AsJson = False) -> None:
    """Fine-tune the networks of a file alike, each by its own grid, and rank them under occluders (Kassaw et al. 2024)."""
    from snellen.cli.print_matrix import print_cost, print_matrix
    from snellen.sweep.by_matrix import run_matrix
    from snellen.sweep.matrix_plan import plan_matrix
    from snellen.sweep.matrix_table import Matrix

    request = resolve(MatrixRequest, settings, config)
    plan = plan_matrix(request)
    result = run_matrix(plan)
    if not isinstance(result, Matrix):
        print_cost(plan, result, as_json=json)
    elif json:
        show_json(result.to_json())
    elif not request.quiet:
        print_matrix(result)


def run_sweep(plan: SweepPlan, request: SweepRequest, *, as_json: bool) -> None:
    """Carry a sweep out, or print how much of it is left to do."""
    from snellen.sweep.result import Sweep, run_request

    result = run_request(plan, request, shlex.join(["snellen", *sys.argv[1:]]))
    if not isinstance(result, Sweep):
        print_plan(plan, result, as_json)
    elif as_json:
        show_json(result.to_json())
    elif not request.quiet:
        print_sweep(result)


def print_sweep(sweep: Sweep) -> None:
    """The heat map as text, and where the page is."""
    from snellen.cli.printing import print_table
    from snellen.report.pages.sweep import cell_text, heat_map_of
    from snellen.report.words import interval

    heat_map = heat_map_of(sweep.page)
    first = "model" if sweep.page.of_models else "trained on"
    rows = [
        (name, *(f"{cell_text(sweep.page, row)} [{interval(row.low, row.high, 'share')}]" for row in cells))
        for name, cells in heat_map.points.items()
    ]
    if sweep.page.source:
        rows.append(("images", *(f"{row.n:,}" for row in next(iter(heat_map.points.values())))))
    print_table([(first, *heat_map.head), *rows])
    show()
    show(f"page: {sweep.folder / 'sweep.html'}")


def print_plan(plan: SweepPlan, left: Left, as_json: bool) -> None:
    """The points and tests of a sweep, and how many trainings and audits are left."""
    from snellen.cli.printing import show_outline

    outline = {
        "kind": plan.kind,
        "out": str(plan.out),
        "points": {point.name: point.description for point in plan.points},
        "tests": {name: f"{data.text} ({len(data):,} images)" for name, data in plan.tests.items()},
        "runs": plan.runs,
        **asdict(left),
    }
    show_json(outline) if as_json else show_outline(outline)
