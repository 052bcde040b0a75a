"""`hf:owner/name`: a dataset of a hub on this machine, downloaded, kept, streamed and read again without the network."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from snellen.hashing import checksum

from .fake_hub import fake_hub
from .shapes import encoded_images, hf_dataset

datasets = pytest.importorskip("datasets")

IMAGES = encoded_images()
SCRIPT = """
import json, sys
from snellen.data import load_data
from snellen.errors import UserError
answers = []
for text in sys.argv[1:]:
    try:
        data = load_data(text)
        sums = [photo.checksum for photo in data.read(range(len(data)))]
        answers.append([data.classes, data.samples.labels.tolist(), sums, data.notices, data.fingerprint])
    except UserError as error:
        answers.append(str(error))
print(json.dumps(answers))
"""


def asked(address: str, home: Path, *texts: str, **environment: str) -> list:
    """What a process of its own makes of data texts, since the libraries read the address of the hub when they are imported."""
    kept = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    kept |= {
        "HF_ENDPOINT": address,
        "HF_HOME": str(home),
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        **environment,
    }
    done = subprocess.run([sys.executable, "-c", SCRIPT, *texts], env=kept, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_a_dataset_of_the_hub_is_downloaded_streamed_and_read_again_offline(tmp_path: Path) -> None:
    whole, place = hf_dataset(IMAGES), tmp_path / "repository"
    (place / "data").mkdir(parents=True)
    parts = {"test-00000-of-00002": range(7), "test-00001-of-00002": range(7, 12), "train-00000-of-00001": range(3)}
    for name, rows in parts.items():
        whole.select(rows).to_parquet(place / "data" / f"{name}.parquet", batch_size=2)
    sums = [checksum(content) for content in IMAGES.values()]
    home = tmp_path / "home"
    with fake_hub(place) as (address, questions):
        (streamed,) = asked(address, home, "hf:owner/name?split=test&stream=5")
        downloads = {
            question.partition("/data/")[2].split()[0]
            for question in questions
            if question.startswith("GET") and "/resolve/" in question
        }
        several, gone, loaded = asked(
            address, home, "hf:owner/name", "hf:owner/name?split=val", "hf:owner/name?split=test&id=name"
        )
    assert "test-00001-of-00002.parquet" not in downloads  # no more than the rows need
    assert "has the splits train, test; name one with ?split=" in several or "has the splits test, train" in several
    assert "cannot be loaded by Hugging Face's library" in gone
    assert streamed[0] == loaded[0] == ["cat", "dog", "eel"]
    assert streamed[2] == sums[:5]
    assert streamed[3] == [
        "hf:owner/name: only the first 5 rows are used, in the order of the dataset; they are no random sample"
    ]
    assert (loaded[2], loaded[3]) == (sums, [])
    again, other = asked(
        address, home, "hf:owner/name?split=test&id=name", "hf:other/name?split=test", HF_HUB_OFFLINE="1"
    )
    assert again == loaded
    assert other == "hf:other/name is not here and could not be downloaded: unset HF_HUB_OFFLINE"


@pytest.mark.slow
def test_images_that_lie_on_the_hub_as_files_are_streamed_and_downloaded(tmp_path: Path) -> None:
    for name, content in IMAGES.items():
        (tmp_path / "repository" / "test" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "repository" / "test" / name).write_bytes(content)
    with fake_hub(tmp_path / "repository") as (address, _):
        texts = ("hf:owner/name?split=test&stream=4", "hf:owner/name?split=test")
        streamed, loaded = asked(address, tmp_path / "home", *texts)
    sums = {checksum(content): name.partition("/")[0] for name, content in IMAGES.items()}
    for (classes, labels, found, _, _), count in ((streamed, 4), (loaded, 12)):
        assert [sums[one] for one in found] == [classes[label] for label in labels]
        assert len(set(found)) == count
