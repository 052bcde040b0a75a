"""What a plug-in's code is stands in the keys of what it answers: changed code is asked again, a stated version is believed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import snellen
from snellen.distort import Distortion, Occlude
from snellen.plugins import source_of

from ..commands import exit_code


def keys(here: Path) -> dict[str, tuple[str, str, str]]:
    """Distortion → key, version and model of its cell, as a run of this folder asks them."""
    line = "audit mean:1 --data specks:10 --audits interference([negative]) --plugin tools.py --out run --fresh --no-report"
    assert exit_code([*line.split(), "--quiet"]) == 0
    rows = snellen.load_run(here / "run").sql("select distortion, cell, version, model_fingerprint from cells")
    return {row[0]: tuple(row[1:]) for row in rows.itertuples(index=False)}


def test_a_change_of_the_file_changes_every_key_that_its_code_decides(all_four: Path, here: Path) -> None:
    before = keys(here)
    assert before == keys(here)
    all_four.write_text(all_four.read_text().replace("WHITE = 255", "WHITE = 254"))
    after = keys(here)
    assert before.keys() == after.keys() == {"none()", "negative()", "noise(sigma=uniform(low=0, high=0.025))"}
    for text, (key, version, model) in after.items():
        assert key != before[text][0]
        assert model != before[text][2]
        assert (version != before[text][1]) == (text == "negative()")


def test_a_stated_version_stands_for_the_code_until_it_is_raised(all_four: Path, here: Path) -> None:
    source = all_four.read_text()
    for line in ('"bright above the middle"),)', '"random pixels"'):
        source = source.replace(line, f'{line}, version="1"')
    source = source.replace("    def __call__", "    version: ClassVar[int] = 3\n\n    def __call__")
    all_four.write_text(source)
    before = keys(here)
    assert before["negative()"][1] == "3"
    all_four.write_text(source + "# a remark\n")
    assert keys(here) == before
    all_four.write_text(source.replace("= 3\n", "= 4\n"))
    raised = keys(here)
    assert raised["none()"] == before["none()"]
    assert raised["negative()"][0] != before["negative()"][0]
    all_four.write_text(
        source.replace('"bright above the middle"),), version="1"', '"bright above the middle"),), version="2"')
    )
    assert keys(here)["none()"][2] != before["none()"][2]
    all_four.write_text(source.replace('"random pixels", version="1"', '"random pixels", version="2"'))
    other = keys(here)["none()"]
    assert (other[0] != before["none()"][0], other[2]) == (True, before["none()"][2])


def test_data_of_a_plugin_have_another_fingerprint_once_its_code_changes(all_four: Path) -> None:
    snellen.load_plugin(all_four)
    before = snellen.load_data("specks:10").fingerprint
    all_four.write_text(all_four.read_text() + "# a remark\n")
    snellen.load_plugin(all_four)
    assert snellen.load_data("specks:10").fingerprint != before


def test_what_derives_from_ours_without_a_version_has_that_of_the_code(here: Path) -> None:
    """Occlude's own version would stay when the derived class changes."""
    (here / "derived.py").write_text(
        "from dataclasses import dataclass\nfrom typing import ClassVar\n"
        "from snellen.distort import Occlude\nfrom snellen.engine.requests.trial import Trial\n"
        "@dataclass(frozen=True)\nclass Cover(Occlude):\n    'As ours.'\n"
        "@dataclass(frozen=True)\nclass Fog(Occlude):\n    version: ClassVar[int] = 7\n"
        "@dataclass(frozen=True)\nclass Asking(Trial):\n    begin = most = rounds = None\n"
        "DISTORTIONS = {'cover': Cover, 'fog': Fog}\n"
    )
    snellen.load_plugin("derived.py")
    cover = snellen.distort.parse("cover | shuffle(2)")
    digest = source_of(type(snellen.distort.parse("cover")))
    assert digest is not None
    assert cover.version == f"{digest}|1"
    assert snellen.distort.parse("fog").version == 7
    (module,) = {type(snellen.distort.parse(name)).__module__ for name in ("cover", "fog")}
    assert vars(sys.modules[module])["Asking"]().version == digest  # of a trial too


def test_a_distortion_made_in_python_keeps_the_version_that_it_had() -> None:
    @dataclass(frozen=True)
    class Mine(Distortion):
        def __call__(self, images, view):  # type: ignore[no-untyped-def]
            return images

    @dataclass(frozen=True)
    class Derived(Occlude):
        pass

    assert Mine().version == 1
    assert Derived().version == Occlude().version


def test_a_package_is_known_by_its_version_and_all_of_its_files(install: Callable[..., None], tmp_path: Path) -> None:
    """In a process for each: Python imports a package once."""
    package = tmp_path / "site" / "many"
    install("many", "1.0", "[snellen.distortions]\nplain = many.shown:Plain\n")
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "helper.py").write_text("AMOUNT = 1\n")
    (package / "shown.py").write_text(
        "from dataclasses import dataclass\nfrom snellen.distort import Distortion\n"
        "@dataclass(frozen=True)\nclass Plain(Distortion):\n    def __call__(self, images, view):\n        return images\n"
    )

    def version() -> str:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path / "site"), *sys.path])}
        code = "import snellen; print(snellen.distort.parse('plain').version)"
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        return done.stdout

    first = version()
    assert version() == first
    (package / "helper.py").write_text("AMOUNT = 2\n")
    second = version()
    metadata = tmp_path / "site" / "many-1.0.dist-info" / "METADATA"
    metadata.write_text(metadata.read_text().replace("Version: 1.0", "Version: 1.1"))
    assert len({first, second, version()}) == 3
