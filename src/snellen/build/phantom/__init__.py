"""The phantom world as files, in the formats other tools read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen.build.phantom.request import PhantomRequest
from snellen.lazy_names import finder, lister
from snellen.settings_file import door

if TYPE_CHECKING:
    from snellen.build.phantom.building import Exported

_HOMES = {"Exported": "snellen.build.phantom.building", "FORMATS": "snellen.build.phantom.building"}

__all__ = ["FORMATS", "Exported", "PhantomRequest", "export", "export_set"]
__getattr__ = finder(__name__, _HOMES)
__dir__ = lister(__all__)


def export_set(request: PhantomRequest) -> Exported:
    """Write a world, or the format's own default, into the folder `out` in one of FORMATS.

    The folder is there whole or not at all: a stopped export resumes, a finished one is left as it is, and any other folder that
    is not empty is refused.

    >>> from snellen.build.phantom import export
    >>> export("phantom:test?size=32&n=6", "folder", "pictures").images
    6
    """
    from snellen.build.phantom.building import PhantomExport

    return PhantomExport(request).run()


export = door(export_set, PhantomRequest, "world", "format", "out", quiet=True)
