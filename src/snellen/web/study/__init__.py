"""The human study: people see the pixels that models saw, and their answers become one more row of any audit."""

from __future__ import annotations

from snellen.lazy_names import finder, lister

_HOMES = {
    "ExportRequest": "snellen.web.study.request",
    "SimulateRequest": "snellen.web.study.request",
    "StudyFolder": "snellen.web.study.folder",
    "StudyRequest": "snellen.web.study.request",
    "StudyStore": "snellen.web.study.store",
    "create_study": "snellen.web.study.create",
    "export_study": "snellen.web.study.export",
    "progress_of": "snellen.web.study.progress",
    "simulate_study": "snellen.web.study.simulate",
    "study_app": "snellen.web.study.app",
}

__all__ = [*_HOMES]
__getattr__ = finder(__name__, _HOMES)
__dir__ = lister(__all__)
