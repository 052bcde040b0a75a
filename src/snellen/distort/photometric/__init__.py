"""Photometric distortions: colours changed, pixels where they were. Bit-equal to Pillow's operations on uint8."""

from snellen.distort.photometric.enhancements import Colour, Grayscale, Sharpness
from snellen.distort.photometric.stage import Photometric
from snellen.distort.photometric.statistics import Autocontrast, Contrast, Equalize
from snellen.distort.photometric.tables import Blue, Brightness, Green, Invert, Posterize, Red, Solarize

PHOTOMETRIC: dict[str, type[Photometric]] = {
    "autocontrast": Autocontrast,
    "brightness": Brightness,
    "colour": Colour,
    "contrast": Contrast,
    "sharpness": Sharpness,
    "solarize": Solarize,
    "grayscale": Grayscale,
    "red": Red,
    "green": Green,
    "blue": Blue,
    "posterize": Posterize,
    "equalize": Equalize,
    "invert": Invert,
}

__all__ = ["PHOTOMETRIC", "Photometric", *(cls.__name__ for cls in PHOTOMETRIC.values())]
