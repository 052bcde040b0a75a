"""Which classes of a file of annotations are taken."""

from __future__ import annotations

from collections.abc import Sequence

from snellen.build.class_folders import class_folder, class_folders
from snellen.build.iruo.request import IruoRequest
from snellen.errors import UserError, option, unknown

OVIS = (
    *("person", "bird", "cat", "dog", "horse", "sheep", "cow", "elephant", "bear", "zebra", "giraffe", "poultry"),
    *("giant_panda", "lizard", "parrot", "monkey", "rabbit", "tiger", "fish", "turtle", "bicycle", "motorcycle"),
    *("airplane", "boat", "vehical"),  # as OVIS writes it
)
DROPPED = ("boat", "vehical")  # too few of them are not occluded


def chosen_classes(known: Sequence[str], request: IruoRequest) -> dict[str, str]:
    """Class in the file → class in the set, of the classes that are taken, in the order of the file."""
    folder = class_folders(known)
    for setting_name, names in (("classes", request.classes), ("without", request.without)):
        for name in names:
            if class_folder(name) not in folder.values():
                raise unknown(f"class in {option(setting_name)}", name, folder.values())
    wanted = {class_folder(name) for name in request.classes}
    if not wanted:
        is_ovis = set(OVIS) == set(folder.values())
        wanted = set(folder.values()) - set(DROPPED if is_ovis else ())
    wanted -= {class_folder(name) for name in request.without}
    if not wanted:
        raise UserError(f"no class is left; change {option('classes')} or {option('without')}")
    return {name: short for name, short in folder.items() if short in wanted}
