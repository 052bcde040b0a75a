"""Plug-ins: models, data, distortions and audits of installed packages and of files, beside snellen's own.

A package offers them as entry points of the groups `snellen.models`, `snellen.data`, `snellen.distortions` and `snellen.audits`;
a file has tables MODELS, DATA, DISTORTIONS and AUDITS. Each names what stands in snellen's own table: a ModelKind, a DataKind, a
subclass of Distortion or of Audit. A package is imported when one of its names is used or all are listed. What is broken is
named in one line and skipped: its name is unknown then.
"""

from snellen.lazy_names import lister
from snellen.plugins.file import load_plugin, load_plugins, plugin_files
from snellen.plugins.origin import SNELLEN, PluginOrigin, blame, plugin_versions, source_of, stamp
from snellen.plugins.table import PluginTable, dataclass_of, instance_of

__all__ = [
    "SNELLEN",
    "PluginOrigin",
    "PluginTable",
    "blame",
    "dataclass_of",
    "instance_of",
    "load_plugin",
    "load_plugins",
    "plugin_files",
    "plugin_versions",
    "source_of",
    "stamp",
]
__dir__ = lister(__all__)
