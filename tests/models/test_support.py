"""Where observers look: their support is what their construction says, and asked of others it is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

import snellen
from snellen.data.phantom import World
from snellen.errors import UserError
from snellen.explain.methods import method_of
from snellen.models.observers import OBSERVERS, parse
from snellen.models.observers.chance import MixtureObserver
from snellen.models.observers.support import support_of

WORLD = World("test", size=32, n=60)
KNOWN = ("background", "border", "texture", "glance", "shape", "centre", "patches", "guess")


def looks(text: str, world: World = WORLD) -> np.ndarray:
    support = support_of(parse(text))
    assert support is not None
    return support(world.render(range(world.n)).images)


def test_observers_of_the_object_look_at_its_visible_pixels_and_those_of_the_scene_at_the_rest() -> None:
    objects = WORLD.truth(range(WORLD.n)).visible
    assert (looks("texture") == objects).all()
    assert (looks("shape") == objects).all()
    assert (looks("background") == ~objects).all()
    assert (looks("glance(0.3)") == np.where(objects, 1, 0.3)).all()
    assert not looks("guess").any()


def test_things_beside_and_in_front_are_neither_object_nor_scene() -> None:
    world = replace(WORLD, clutter=0.8, occlusion=0.5)
    truth = world.truth(range(world.n))
    objects, scenes = looks("texture", world), looks("background", world)
    assert (objects == truth.visible).all()
    assert not (objects & scenes).any()
    assert (objects | scenes).mean() < 0.98


def test_a_border_and_a_window_are_cut_out_of_what_the_others_see() -> None:
    strip = np.ones((32, 32), bool)
    strip[4:28, 4:28] = False
    assert (looks("border(0.125)") == (looks("background") & strip)).all()
    middle = np.zeros((32, 32), bool)
    middle[12:20, 12:20] = True
    assert (looks("centre(0.25)") == (looks("texture") & middle)).all()


def test_patches_are_whole_and_all_object() -> None:
    world = replace(WORLD, size=34)  # two rows and columns are left over
    pure, objects = looks("patches(4)", world), looks("texture", world)
    assert pure.any()
    assert not (pure & ~objects).any()
    tiles = pure[:, :32, :32].reshape(60, 8, 4, 8, 4)
    assert (tiles.all((2, 4)) == tiles.any((2, 4))).all()
    assert not pure[:, 32:].any()
    assert not pure[:, :, 32:].any()
    assert not looks("patches(40)").any()


def test_a_mixture_looks_where_the_one_looks_that_answers() -> None:
    mixture = parse("mixture(texture, background, 0.4)")
    assert isinstance(mixture, MixtureObserver)
    heads = mixture.heads(WORLD.render(range(WORLD.n)).images)
    assert 0 < heads.mean() < 1
    assert (
        looks("mixture(texture, background, 0.4)")
        == np.where(heads[:, None, None], looks("texture"), looks("background"))
    ).all()
    assert support_of(parse("mixture(texture, edges)")) is None


def test_hiding_what_an_observer_does_not_look_at_changes_no_answer() -> None:
    images = WORLD.render(range(WORLD.n)).images
    for text in ("texture", "background", "border", "centre(0.5)", "patches(4)"):
        observer = parse(text)
        hidden = np.where(looks(text)[..., None] > 0, images, np.uint8(0))
        seen = looks(text).any((1, 2))  # where there is nothing it guesses, by all pixels
        assert (observer.answer(hidden)[seen] == observer.answer(images)[seen]).all(), text


def test_the_card_knows_whose_support_is_known() -> None:
    names = [name for name in OBSERVERS if name not in ("mixture", "misreport")]  # which are made of others
    assert {name for name in names if snellen.load_model(f"observer:{name}").card.support} == set(KNOWN)


def test_the_method_gives_maps_and_refuses_layers_and_models_that_do_not_know() -> None:
    images = torch.from_numpy(WORLD.render(range(4)).images).permute(0, 3, 1, 2)
    maps = method_of("support").maps(snellen.load_model("observer:texture"), images, None, None)
    assert maps.dtype == torch.float32
    assert (maps.numpy() == looks("texture")[:4]).all()
    with pytest.raises(UserError, match="method support has no layers, got layer -2"):
        method_of("support").maps(snellen.load_model("observer:texture"), images, None, -2)
    with pytest.raises(UserError, match="it is not known where model 'edges' looks; method support is for observers"):
        method_of("support").maps(snellen.load_model("observer:edges"), images, None, None)


def test_an_audit_of_others_is_refused_before_anything_is_asked(tmp_path) -> None:
    with pytest.raises(
        UserError, match="a map by support needs an observer whose support is known, which 'oracle' is not"
    ):
        snellen.audit(
            "observer:oracle",
            "phantom:test?n=9&size=32",
            "explanation(support, curves=off)",
            tmp_path / "run",
            quiet=True,
        )
    assert not list(tmp_path.iterdir())


def test_a_border_answers_by_the_scene_and_a_glance_by_whichever_has_more_votes() -> None:
    images, scenes = WORLD.render(range(WORLD.n)).images, WORLD.recipe(range(WORLD.n)).scene
    assert (parse("border").answer(images) == scenes).all()
    textures = WORLD.recipe(range(WORLD.n)).objects.texture
    assert (parse("glance(0)").answer(images) == textures).all()
    share = WORLD.truth(range(WORLD.n)).visible.mean((1, 2))
    by_scene = 0.3 * (1 - share) > share
    assert (parse("glance(0.3)").answer(images) == np.where(by_scene, scenes, textures)).all()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("border(0)", r"border: expected width in \(0, 0.5\], got 0"),
        ("glance(2)", r"glance: expected scene in \[0, 1\], got 2"),
    ],
)
def test_parameters_out_of_range_are_named(text: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        parse(text)
