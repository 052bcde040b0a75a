"""The desk over HTTP: who is let in, what is refused, what is durable, hostile texts."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

import httpx
import numpy as np
import pytest
from PIL import Image

from snellen.build.in9 import rebuild
from snellen.build.in9.building import In9Built
from snellen.build.in9.curation import read_curation
from snellen.data import load_data
from snellen.web import background
from snellen.web.curate.app import CurateApp
from snellen.web.curate.request import CurateRequest
from snellen.web.curate.session import Session

from .conftest import Served

ROOT = Path(__file__).resolve().parents[3]


def pixels(png: bytes) -> np.ndarray:
    with Image.open(io.BytesIO(png)) as image:
        return np.asarray(image)


def mask_of(facts: dict) -> np.ndarray:
    runs = facts["mask"]
    return (np.repeat(np.arange(len(runs)) % 2, runs) == 1).reshape(facts["height"], facts["width"])


def test_an_image_is_shown_with_its_mask_its_box_and_its_variants_as_they_are_stored(
    served: Served, made: In9Built
) -> None:
    ann = served.visitor("ann")
    facts = ann.get(f"/api/item/{ann.items()[3]}")
    original = load_data(f"in9:{made.out}/original")
    (photo,) = original.read([original.samples.rows[facts["id"]]])
    assert facts["class"] == original.classes[original.samples.labels[original.samples.rows[facts["id"]]]]
    assert np.array_equal(mask_of(facts), photo.maps["mask"])
    assert facts["box"] == photo.boxes[0].tolist()
    assert np.array_equal(pixels(ann.client.get(f"/picture/{facts['image']}").content), photo.image)
    assert len(facts["variants"]) == 8
    for name, address in facts["variants"]:
        data = load_data(f"in9:{made.out}/{name}")
        (stored,) = data.read([data.samples.rows[facts["id"]]])
        shown = ann.client.get(f"/picture/{address}")
        assert np.array_equal(pixels(shown.content), stored.image)
        assert shown.headers["cache-control"].startswith("private")


def test_a_mended_image_is_shown_as_it_will_be_rebuilt(served: Served, made: In9Built, tmp_path: Path) -> None:
    """What the page shows of variants is what the rebuilt set holds, to the pixel."""
    ann = served.visitor("ann")
    item = ann.items()[5]
    facts = ann.get(f"/api/item/{item}")
    x0, y0, x1, y1 = facts["box"]
    box = [x0 + 1, y0 + 2, x1, y1]
    middle = [(x0 + x1) / 2, (y0 + y1) / 2]
    strokes = [
        {"object": True, "width": 7, "points": [*middle, middle[0] + 2, middle[1]]},
        {"object": False, "width": 4, "points": [middle[0] - 4, middle[1] - 6, middle[0] + 4, middle[1] - 6]},
    ]
    tried = ann.post("/api/try", {"item": item, "box": box, "strokes": strokes})
    assert not np.array_equal(mask_of(tried), mask_of(facts))
    ann.decide(item, "mend", box=box, strokes=strokes)
    mended = ann.get(f"/api/item/{item}")
    assert mended["box"] == box
    assert mended["review"]["decision"] == "mend"
    assert mended["review"]["strokes"][0]["points"] == strokes[0]["points"]
    assert np.array_equal(mask_of(mended), mask_of(tried))
    served.session.settle()
    out = rebuild(
        str(made.out),
        str(served.session.out / "curation.csv"),
        tmp_path / "new",
        workers=1,
    ).out
    for name, address in mended["variants"]:
        data = load_data(f"in9:{out}/{name}")
        (stored,) = data.read([data.samples.rows[mended["id"]]])
        assert np.array_equal(pixels(ann.client.get(f"/picture/{address}").content), stored.image), name


def test_decisions_are_kept_undone_and_continued_where_one_stopped(served: Served, made: In9Built) -> None:
    ann, ben = served.visitor("ann"), served.visitor("ben")
    items = ann.items()
    ann.decide(items[0])
    second = ann.decide(items[1], "reject", reason="mask keeps background")
    assert ann.decide(items[1], "reject", reason="mask keeps background") == second  # sent twice
    assert second["last"] == second["review"]["number"]
    assert [item[2] for item in ann.get("/api/state")["items"][:3]] == ["accept", "reject", None]
    assert [item[2] for item in ben.get("/api/state")["items"][:3]] == [None] * 3
    undone = ann.post("/api/undo", {"number": second["last"]})
    assert (undone["item"], undone["review"]) == (items[1], None)
    assert ann.post("/api/undo", {"number": second["last"]}) == undone
    ben.post("/api/undo", {"number": undone["last"]}, 404)
    again = Session(served.session.request)
    assert again.desk.state("ann")["items"][0][2] == "accept"
    again.store.close()


def test_two_reviewers_see_their_agreement_and_settle_differences(served: Served) -> None:
    ann, ben = served.visitor("ann"), served.visitor("ben")
    assert ann.get("/api/agreement") == {"pairs": [], "open": [], "settled": 0}
    for place, (mine, yours) in enumerate(zip(ann.items()[:10], ben.items()[:10])):
        ann.decide(mine, "reject" if place < 4 else "accept", **({"reason": "mask misses object"} if place < 4 else {}))
        ben.decide(
            yours, "reject" if place < 3 else "accept", **({"reason": "mask misses object"} if place < 3 else {})
        )
    facts = ben.get("/api/agreement")
    (pair,) = facts["pairs"]
    assert pair["kappa"] == pytest.approx((0.9 - (0.4 * 0.3 + 0.6 * 0.7)) / (1 - (0.4 * 0.3 + 0.6 * 0.7)))
    assert (pair["images"], facts["settled"], len(facts["open"])) == (10, 9, 1)
    (differing,) = facts["open"]
    chosen = next(one for one in differing["reviews"] if one["reviewer"] == "ben")
    body = {"item": differing["item"], "attempt": "x", "number": chosen["number"]}
    settled = ben.post("/api/choose", body)
    assert (settled["open"], settled["settled"]) == ([], 10)
    assert ben.post("/api/choose", body) == settled
    ben.post("/api/choose", {**body, "attempt": "y", "number": chosen["number"] + 10_000}, 409)
    ben.post("/api/undo", {"number": settled["last"]})
    assert len(ben.get("/api/agreement")["open"]) == 1


def test_nothing_is_shown_to_those_who_did_not_come_by_a_link(served: Served) -> None:
    ann = served.visitor("ann")
    facts = ann.get(f"/api/item/{ann.items()[0]}")
    paths = ["/api/state", f"/api/item/{ann.items()[0]}", f"/picture/{facts['image']}", "/api/agreement"]
    with httpx.Client(base_url=served.address) as stranger:
        for path in paths:
            answer = stranger.get(path)
            assert answer.status_code == 401
            assert facts["id"] not in answer.text
        assert stranger.post("/api/decide", json={}).status_code == 401
        assert stranger.post("/enter", json={"token": "x" * 32}).status_code == 404
        page = stranger.get("/")
        assert page.status_code == 200
        assert str(served.session.collection.text) not in page.text
        assert "<script type" in page.text
        assert "style=" not in page.text
    ben = served.visitor("ben")
    for path in paths[1:3]:  # another reviewer's address
        assert ben.client.get(path).status_code == 404


def test_what_changes_something_needs_the_csrf_token(served: Served) -> None:
    ann = served.visitor("ann")
    item = ann.items()[0]
    body = {"item": item, "attempt": "1", "decision": "accept"}
    for headers in ({"x-csrf-token": ""}, {"x-csrf-token": "0" * 64}, {"origin": "http://evil.example"}):
        assert ann.client.post("/api/decide", json=body, headers=headers).status_code == 403
        assert ann.client.post("/api/undo", json={"number": 1}, headers=headers).status_code == 403
        assert ann.client.post("/leave", json={}, headers=headers).status_code == 403
    assert ann.get("/api/state")["items"][0][2] is None


TRY = {"item": "{item}", "box": [1, 1, 9, 9]}


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("/api/decide", {"item": "{item}", "attempt": "1", "decision": "perhaps"}, 400, "cannot read the request"),
        ("/api/decide", {"item": "{item}", "attempt": "1", "decision": "accept", "more": 1}, 400, "cannot read"),
        ("/api/decide", {"item": "{item}", "attempt": "1", "decision": "reject"}, 400, "expected a reason: mask keeps"),
        ("/api/decide", {"item": "{item}", "attempt": "1", "decision": "reject", "reason": "ugly"}, 400, "expected a reason"),
        ("/api/decide", {"item": "{item}", "attempt": "1", "decision": "reject", "reason": "other"}, 400, "expected a note"),
        ("/api/decide", {"item": "{item}", "attempt": "1", "decision": "accept", "note": "x"}, 400, "with a rejection only"),
        ("/api/decide", {"item": "{item}", "attempt": "1", "decision": "accept", "strokes": []}, 400, "with mending only"),
        ("/api/decide", {"item": "{item}", "attempt": "1", "decision": "mend"}, 400, "expected a box with mending"),
        ("/api/decide", {"item": "{item}", "attempt": "1", "decision": "mend", "box": [0, 0, 48, 48]}, 422, "leaves some"),
        ("/api/decide", {"item": "{item}", "attempt": "1", "decision": "mend", "box": [0, 0, 1]}, 400, "cannot read"),
        ("/api/decide", {"item": "item 3", "attempt": "1", "decision": "accept"}, 404, "not found"),
        ("/api/decide", {"item": "../../etc/passwd", "attempt": "1", "decision": "accept"}, 404, "not found"),
        ("/api/try", {**TRY, "strokes": [{"object": True, "width": 1e9, "points": [1, 2]}]}, 400, "cannot read"),
        ("/api/try", {**TRY, "strokes": [{"object": True, "width": 1, "points": [1]}]}, 400, "cannot read"),
        ("/api/try", {**TRY, "strokes": [{"object": False, "width": 900, "points": [9, 9]}]}, 422, "GrabCut"),
        ("/api/undo", {"number": 0}, 400, "cannot read"),
        ("/api/undo", {"number": 2**60}, 400, "cannot read"),
        ("/api/undo", {"number": 12345}, 404, "not found"),
        ("/api/choose", {"item": "{item}", "attempt": "1", "number": 999}, 409, "no longer stands"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_one_line_and_changes_nothing(
    served: Served, path: str, body: dict, status: int, words: str
) -> None:
    ann = served.visitor("ann")
    item = ann.items()[0]
    answer = ann.post(path, {name: item if value == "{item}" else value for name, value in body.items()}, status)
    assert words in answer["error"]
    assert "\n" not in answer["error"]
    assert "Traceback" not in answer["error"]
    assert all(decision is None for _, _, decision, _ in ann.get("/api/state")["items"])


@pytest.mark.parametrize(
    "path", ["/picture/..%2f..%2fetc", "/picture/%2e%2e", "/api/item/..", "/static/..%2fapp.py", "/api/item/%00"]
)
def test_paths_lead_nowhere_else(served: Served, path: str) -> None:
    ann = served.visitor("ann")
    assert ann.client.get(path).status_code == 404


NOTES = [
    "<script>alert(1)</script>",
    "'; drop table reviews; --",
    "\u202etxt",
    'a,b\n"c"',
    "=HYPERLINK(1)",
    "𝒳" * 250,
    "\ud7ff",
]


def test_any_note_is_kept_as_text_and_read_back_from_the_list(served: Served) -> None:
    ann = served.visitor("ann")
    items = ann.items()
    for item, note in zip(items, NOTES):
        ann.decide(item, "reject", reason="other", note=note)
    ann.decide(items[8], "reject", reason="other", note="x" * 501, status=400)
    ann.decide(items[8], "reject", reason="other", note="\u0000", status=400)
    curated = served.session.settle()
    rejects = read_curation(curated.out / "curation.csv").rejects
    assert len(rejects) == len(NOTES)
    assert "other: <script>alert(1)</script>" in rejects.values()
    assert "other: '; drop table reviews; --" in rejects.values()
    assert 'other: a,b\\n"c"' in rejects.values()
    assert ann.get(f"/api/item/{items[0]}")["review"]["note"] == NOTES[0]


def test_an_image_that_cannot_be_read_is_told_and_can_be_rejected(made: In9Built, tmp_path: Path) -> None:
    copy = tmp_path / "set"
    shutil.copytree(made.out, copy)
    broken = sorted((copy / "original").rglob("*.png"))[4]
    broken.write_bytes(b"no image")
    session = Session(CurateRequest(dataset=f"in9:{copy}", out=tmp_path / "reviews"))
    with background(CurateApp(session.desk).starlette) as address:
        ann = Served(session, address).visitor("ann")
        place = session.collection.names.index(broken.stem)
        facts = ann.get(f"/api/item/{ann.items()[place]}")
        assert facts["error"].startswith(f"'{broken.stem}' cannot be shown: ")
        ann.decide(ann.items()[place], "reject", reason="other", note="damaged")
        ann.decide(ann.items()[place + 1])
    assert session.settle().rejected == 1
    session.store.close()


KILLED = """
import os, signal, sys
from pathlib import Path
from snellen.web import background
from snellen.web.curate.app import CurateApp
from snellen.web.curate.request import CurateRequest
from snellen.web.curate.session import Session
session = Session(CurateRequest(dataset=sys.argv[1], out=Path(sys.argv[2])))
token = session.store.link("ann")
with background(CurateApp(session.desk).starlette) as address:
    print(address, token, flush=True)
    sys.stdin.read()
"""


def test_sigkill_right_after_a_reply_loses_no_confirmed_decision(made: In9Built, tmp_path: Path) -> None:
    """Two servers one after the other on one store; each is killed the moment a reply is there."""
    confirmed: dict[str, str] = {}
    reviews = tmp_path / "reviews"
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    for turn in range(2):
        command = [sys.executable, "-c", KILLED, f"in9:{made.out}", str(reviews)]
        with subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            address, token = server.stdout.readline().split()
            client = httpx.Client(base_url=address)
            client.headers["x-csrf-token"] = client.post("/enter", json={"token": token}).json()["csrf"]
            items = client.get("/api/state").json()["items"]
            for place in range(turn * 5, turn * 5 + 5):
                body = {
                    "item": items[place][0],
                    "attempt": str(place),
                    "decision": "reject",
                    "reason": "other",
                    "note": f"n{place}",
                }
                reply = client.post("/api/decide", json=body).json()
                name = client.get(f"/api/item/{items[place][0]}").json()["id"] if place % 5 < 4 else None
                if name is None:
                    server.kill()  # right after the reply
                    name = str(place)
                confirmed[name] = reply["review"]["note"]
    session = Session(CurateRequest(dataset=f"in9:{made.out}", out=reviews))
    kept = session.store.standing()[0]["ann"]
    assert sorted(one.note for one in kept.values()) == sorted(confirmed.values())
    assert len(kept) == 10
    session.store.close()
