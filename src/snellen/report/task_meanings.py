"""The terms of reports about segmentation and detection models."""

from __future__ import annotations

TASK_MEANINGS: dict[str, dict[str, str]] = {
    "segmentation": {
        "Pixel accuracy": "Per image the share of its labelled pixels whose class is right. The number is the mean over images; "
        "its 95% interval says how far it could be off because only so many images were shown.",
        "IoU, mIoU": "Of a class, over all images: the pixels rightly given to it, divided by those that have it or were given "
        "to it. mIoU is the mean over the classes that have a pixel.",
    },
    "detection": {
        "Found": "An image counts as right where a detected box overlaps a true one by an IoU of at least 0.5; where the data "
        "have no boxes, wherever anything is detected. The number is the share of such images with its 95% interval.",
    },
}
