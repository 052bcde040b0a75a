"""A notice where maps compare images with what is usual, and too few images are there to tell that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from snellen.audits import Audit, Exam
from snellen.data import Dataset
from snellen.distort import Distortion, saliency_of
from snellen.explain.methods import method_of
from snellen.explain.reference import few_images


def reference_notices(audits: Sequence[Audit], exam: Exam, data: Mapping[str, Dataset]) -> list[str]:
    """One notice per dataset whose images are too few for a method of maps that some audit uses."""
    pairs = [(request.method, request.on) for one in audits for request in one.maps(exam)]
    for cell in (cell for one in audits for cell in one.cells(exam)):
        saliency = saliency_of(cell.distortion) if isinstance(cell.distortion, Distortion) else None
        if saliency is not None:
            pairs.append((saliency.method, cell.on))
    needing = dict.fromkeys((method, on) for method, on in pairs if method_of(method).reference is not None)
    texts = [few_images(len(data[on]), f"the {on} data", method) for method, on in needing]
    return [text for text in texts if text is not None]
