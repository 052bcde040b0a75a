"""`snellen study`: a study of people, made, served, exported and backed up; with settings as options."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from snellen.cli.options import AsJson, Config, epilog, takes
from snellen.cli.study_plan import plan
from snellen.files.plain import expand_home, place_to_write
from snellen.settings_file import resolve
from snellen.terminal import show, show_json, tell
from snellen.web import ServeRequest, require
from snellen.web.study.request import ExportRequest, SimulateRequest, StudyRequest

study = typer.Typer(help="Ask people about the images that models saw.", no_args_is_help=True)

Folder = Annotated[Path, typer.Argument(parser=expand_home, metavar="STUDY", help="folder of the study")]
DatabaseUrl = Annotated[
    str | None,
    typer.Option(metavar="URL", help="PostgreSQL database of the answers; or the variable SNELLEN_STUDY_DATABASE"),
]
_USE = "snellen study"


@study.command(
    "create",
    epilog=epilog(
        "snellen study create 'phantom:test?size=64&n=120' --distortion 'none()' --distortion 'occlude(0.5)' --out study",
    ),
)
@takes(StudyRequest, arguments=("source",))
def create(settings: Mapping[str, Any], config: Config = None, json: AsJson = False) -> None:
    """Make a study of a run or of data: pictures and links."""
    require(_USE)
    from snellen.web.study import create_study

    created = create_study(resolve(StudyRequest, settings, config))
    if json:
        show_json(
            {"folder": created.folder, "items": created.items, "per_person": created.per_person, "links": created.links}
        )
        return
    counts = ", ".join(f"{count} {kind}" for kind, count in created.items.items())
    show(f"{created.folder}: {counts} items; a person sees {created.per_person} of the main ones")
    for name, token in created.links.items():
        show(f"{name}  /#{token}")
    if created.links:
        tell("links are shown once: put the address of the server in front, as `snellen study serve` prints it")


@study.command("serve", epilog=epilog("snellen study serve study --port 8000"))
@takes(ServeRequest)
def serve(settings: Mapping[str, Any], folder: Folder, database: DatabaseUrl = None) -> None:
    """Serve a study to participants until Ctrl-C."""
    require(_USE)
    from snellen.web.server import serve as run
    from snellen.web.study import StudyFolder, StudyStore, study_app
    from snellen.web.tokens import new_token

    at = ServeRequest(**settings)
    store, token = StudyStore(StudyFolder(folder), database), new_token()
    _remind(store.study.settings["retention"])

    def announce(url: str) -> None:
        show(f"participants  {url}/#TOKEN, the token of each one's personal link")
        if store.study.settings["recruit"]:
            show(f"recruiting    {url}/?PROLIFIC_PID=…&STUDY_ID=…&SESSION_ID=…")
        show(f"experimenter  {url}/experimenter#{token}")
        if at.host not in ("127.0.0.1", "localhost", "::1") and not at.names:
            tell("only names of this machine are answered; give the name that people use with --names")

    try:
        run(study_app(store, token, at.https), at, announce)
    finally:
        store.close()


@study.command("status", epilog=epilog("snellen study status study --json"))
def status(folder: Folder, database: DatabaseUrl = None, json: AsJson = False) -> None:
    """Show who is how far."""
    require(_USE)
    import msgspec

    from snellen.web.study import StudyFolder, StudyStore, progress_of

    store = StudyStore(StudyFolder(folder), database)
    progress = progress_of(store)
    store.close()
    _remind(store.study.settings["retention"])
    if json:
        show_json(msgspec.to_builtins(progress))
        return
    show(", ".join(f"{count} {state}" for state, count in progress.states.items()))
    show(f"{progress.answers} answers, {progress.fewest} to {progress.most} for each of {progress.images} images")
    for person in progress.people:
        catch = f", catch trials {person.catch_right} of {person.catch_total}" if person.catch_total else ""
        show(f"{person.observer}  {person.state}: {person.answered} of {person.total}{catch}")


def _remind(retention: str | None) -> None:
    """Say that the date until which answers were to be kept has passed."""
    if retention and datetime.date.today() > datetime.date.fromisoformat(retention):
        tell(f"answers were to be kept until {retention}: delete the study, its backups and its exports")


@study.command("export", epilog=epilog("snellen study export study --out answers --format parquet"))
@takes(ExportRequest, arguments=("study",))
def export(settings: Mapping[str, Any]) -> None:
    """Write the answers as tables that audits read."""
    require(_USE)
    from snellen.web.study import export_study

    exported = export_study(ExportRequest(**settings))
    for file in exported.files:
        show(file)
    tell(f"{exported.answers} answers of {exported.people} people")


@study.command("backup", epilog=epilog("snellen study backup study --out study-backup.sqlite"))
def backup(
    folder: Folder,
    out: Annotated[Path, typer.Option(parser=place_to_write, metavar="PATH", help="file of the copy")],
    database: DatabaseUrl = None,
) -> None:
    """Copy the answers while the study is served."""
    require(_USE)
    from snellen.web.study import StudyFolder, StudyStore

    store = StudyStore(StudyFolder(folder), database)
    try:
        store.database.backup(out)
    finally:
        store.close()
    show(out)


@study.command("simulate", epilog=epilog("snellen study simulate study --people 20 --bad 2"))
@takes(SimulateRequest, arguments=("study",))
def simulate(settings: Mapping[str, Any], json: AsJson = False) -> None:
    """Let simulated people take part; use a copy of the study."""
    require(_USE)
    from snellen.web.study import simulate_study

    simulated = simulate_study(SimulateRequest(**settings))
    if json:
        show_json({"observers": simulated.observers, "bad": simulated.bad, "answers": simulated.answers})
        return
    careless = ", ".join(simulated.bad) or "none"
    show(f"{simulated.answers} answers of {len(simulated.observers)} simulated people; careless: {careless}")


study.command("plan", epilog=epilog("snellen study plan --gap 0.1 --people 0.85"))(plan)
