"""Recipes by name: the papers' and a fast one."""

from __future__ import annotations

from typing import Any

from snellen.errors import UserError, unknown
from snellen.files import expand_home
from snellen.settings_file import blame, read_settings
from snellen.train.protocols import protocol_of, with_shift
from snellen.train.recipe import Recipe

PRESETS: dict[str, dict[str, Any]] = {
    # PreAct-ResNet18 on CIFAR-10 on one GPU: one cycle of 35 epochs instead of 200. Twice the rate makes it diverge.
    "fast": dict(
        epochs=35, batch_size=512, lr=0.2, nesterov=True, weight_decay=1e-3, smoothing=0.1, padding=4,
        schedule="onecycle(warmup=0.2)",
    ),
    # Marcu & Prügel-Bennett 2022, appendix A: 0.1, and 0.001 from epoch 100 of 200; the ÷100 of a scheduler bug is part of
    # the results.
    "marcu2022": dict(
        epochs=200, batch_size=128, lr=0.1, weight_decay=1e-4, padding=4, schedule="steps(at=[0.5], factor=0.01)",
    ),
    # Won et al. 2023, section 4: ÷10 at 75, 150 and 225 of 300 epochs; the weight decay is CutMix's own.
    "won2023": dict(
        epochs=300, batch_size=256, lr=0.1, weight_decay=1e-4, padding=0, resized=True,
        schedule="steps(at=[0.25, 0.5, 0.75], factor=0.1)",
    ),
    # Volpi & Murino 2019, digits: Adam for a million updates; the batch is the code's.
    "volpi2019": dict(
        updates=1_000_000, batch_size=32, optimiser="adam", lr=3e-4, weight_decay=0.0, padding=0, flip=False,
        schedule="constant",
    ),
    # Volpi et al. 2018, the public code: ADA on 10,000 digits, pixels in 0…1. Their history has 6, 3 and 6 phases.
    "volpi2018": dict(
        arch="convnet_slim", robust="ada(phases=6, updates=100, steps=15, size=1, gamma=1)", updates=10_001, batch_size=32,
        optimiser="adam", lr=1e-4, weight_decay=0.0, padding=0, flip=False, schedule="constant",
    ),
    # Volpi & Murino 2019, CIFAR-10: as Wide ResNets (Zagoruyko and Komodakis 2016), ÷5 at 60, 120 and 160 of 200 epochs.
    "volpi2019-cifar10": dict(
        epochs=200, batch_size=128, lr=0.1, nesterov=True, weight_decay=5e-4, padding=4,
        schedule="steps(at=[0.3, 0.6, 0.8], factor=0.2)",
    ),
    # Volpi & Murino 2019, CamVid: RMSprop "with decay 0.001"; rate and batch are unstated there. FC-DenseNet has dropout before
    # BatchNorm, whose running averages do not fit its answers.
    "volpi2019-camvid": dict(
        epochs=300, batch_size=4, optimiser="rmsprop", lr=1e-4, momentum=0.0, weight_decay=0.0, padding=0,
        schedule="inverse(decay=0.001)", batch_norm="measured",
    ),
    # Xiao et al. 2021, appendix C.
    "xiao2021": dict(
        epochs=200, batch_size=256, lr=0.1, weight_decay=1e-4, padding=0, resized=True, jitter=0.1,
        schedule="every(epochs=50, factor=0.1)",
    ),
    # Xiao et al. 2021, figure 11: the sweep over data sizes, where 0.1 did not converge on the smallest sets.
    "xiao2021-small": dict(
        epochs=200, batch_size=256, lr=0.01, weight_decay=1e-4, padding=0, resized=True, jitter=0.1,
        schedule="every(epochs=50, factor=0.1)",
    ),
}  # fmt: skip

# Names of earlier versions: they still work, and no help, message or page lists them.
OLD_NAMES = {
    "000": "marcu2022", "001": "won2023", "003": "volpi2019", "003-cifar10": "volpi2019-cifar10",
    "003-camvid": "volpi2019-camvid", "004": "xiao2021", "004-small": "xiao2021-small",
}  # fmt: skip


def preset(name: str | None, **settings: Any) -> Recipe:
    """The recipe of a preset, or of a YAML file of settings, with some settings changed (None leaves one as it is).

    A length in epochs takes the place of the preset's in updates. With `robust="esda"` (`rda`, `rsda`) the presets of Volpi &
    Murino (2019) set what is not given to what it is there.

    >>> from snellen.train import preset
    >>> preset("fast", epochs=2).epochs
    2
    """
    values, where = _settings(name)
    changes = {key: value for key, value in settings.items() if value is not None}
    protocol = protocol_of(OLD_NAMES.get(name or "", name or ""))
    if protocol is not None and "robust" in changes:
        values = with_shift(protocol, values, changes)
        changes["robust"] = values["robust"]
    if "epochs" in changes and "updates" not in changes:
        values.pop("updates", None)
    below, above = Recipe.checked(values, where), Recipe.checked(changes)
    return blame(expand_home(where) if where else None, lambda: Recipe(**{**below, **above}), lambda: Recipe(**below))


def _settings(name: str | None) -> tuple[dict[str, Any], str]:
    """The settings of a preset or file, and the file that errors name."""
    if name is None:
        return {}, ""
    name = OLD_NAMES.get(name, name)
    if name in PRESETS:
        return dict(PRESETS[name]), ""
    if not name.endswith((".yaml", ".yml")):
        raise unknown("recipe", name, PRESETS)
    values = read_settings(expand_home(name))
    if not values:
        raise UserError(f"{name}: expected settings as 'name: value' lines, got nothing")
    return values, name
