"""Presence: an absent image is the present one without its object, and nothing else tells them apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import snellen
from snellen.data.phantom import World, presence
from snellen.data.phantom.shapes import SHAPES

SMALL = World("test", n=96, size=32, object_size=(0.2, 0.3))
TEXT = "phantom:test?n=96&size=32&object_size=0.2..0.3&task=presence"


def shown(world: World) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Images, masks and whether the label says present, of the whole dataset."""
    data = presence.dataset(world)
    photos = data.read_together(range(len(data)))
    return photos.images, photos.maps["mask"], data.samples.labels == 1


def test_present_images_are_the_world_s_own_and_absent_ones_its_scenes():
    images, masks, there = shown(SMALL)
    truth = SMALL.truth(range(96))
    np.testing.assert_array_equal(images[there], truth.images[there])
    np.testing.assert_array_equal(images[~there], truth.scene[~there])
    np.testing.assert_array_equal(masks[there], truth.full[there])
    assert not masks[~there].any()


@settings(max_examples=20)
@given(seed=st.integers(0, 1000), size=st.sampled_from([32, 48]), off_centre=st.floats(0, 1))
def test_a_present_image_differs_from_its_absent_twin_exactly_inside_the_mask(seed, size, off_centre):
    world = World("train", n=24, size=size, object_size=(0.2, 0.3), off_centre=off_centre, seed=seed)
    images, masks, there = shown(world)
    truth = world.truth(range(24))
    twins = np.where(there[:, None, None, None], truth.scene, truth.images)  # the other of each pair
    differs = (images != twins).any(axis=3)
    np.testing.assert_array_equal(differs, truth.full)
    np.testing.assert_array_equal(differs & there[:, None, None], masks)


def test_half_of_every_shape_is_absent():
    there = presence.dataset(replace(SMALL, n=240)).samples.labels.reshape(-1, len(SHAPES))
    np.testing.assert_array_equal(there.mean(axis=0), 0.5)


def test_wrong_labels_swap_the_two_classes_and_the_class_shown_stays_known():
    noisy, plain = (presence.dataset(replace(SMALL, n=2400, label_noise=noise)).samples for noise in (0.3, 0.0))
    np.testing.assert_array_equal(noisy.columns["true_class"], np.array(presence.CLASSES)[plain.labels])
    assert (noisy.labels != plain.labels).mean() == pytest.approx(0.3, abs=4 * np.sqrt(0.3 * 0.7 / 2400))


def test_what_is_absent_has_no_box_and_no_texture():
    data = snellen.load_data(TEXT)
    listed = data.samples
    for photo, label, texture, size in zip(
        data.read(range(96)), listed.labels, listed.columns["texture"], listed.columns["object_size"]
    ):
        assert photo.boxes.shape == (label, 4)
        assert bool(texture) == bool(size) == bool(label) == photo.maps["mask"].any()
        if label:
            rows, columns = np.nonzero(photo.maps["mask"])
            assert photo.boxes[0].tolist() == [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]


def test_the_data_text_reads_it_and_filters_it():
    data = snellen.load_data(TEXT)
    assert data.classes == presence.CLASSES
    assert data.fingerprint == presence.dataset(SMALL).fingerprint != SMALL.dataset().fingerprint
    assert snellen.load_data("phantom:test?n=96&size=32&object_size=0.2..0.3&task=class").classes == tuple(SHAPES)
    assert len(snellen.load_data(f"{TEXT}&label=present")) == 48


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("task=presense", "unknown phantom task 'presense'; did you mean 'presence'?"),
        ("task=presence&clutter=0.5", "expected task=presence without clutter and occlusion, which show other things"),
        ("task=presence&occlusion=1", "expected task=presence without clutter and occlusion, which show other things"),
    ],
)
def test_a_bad_task_is_an_error_in_words(option, said):
    with pytest.raises(snellen.UserError, match=said.replace("?", r"\?")):
        snellen.load_data(f"phantom:test?{option}")
