"""Marks: what a pixel is made of can be read back exactly from the pixel itself.

The two low bits of red, green and blue hold a 6-bit code, hidden by XOR with a fixed pseudo-random hash of the six high
bits of the three channels: scene s is code s, a main object of texture t is MAIN + t, any other thing of texture t is
OTHER + t; bars count as scene. An observer that reads them is exact under any distortion that copies pixels, such as
occlusion, shuffling or a swapped background, so what an audit should measure of it is known beforehand. The code never
tells the class: only the scene, the texture and whether it is the main object, most of which an eye sees anyway, so a
trained network learns nothing of the class from it that it does not see. It changes a channel by at most three levels.
What a distortion paints a region with is no evidence: the colours FLAT read as NOTHING, and no pixel of the world has one.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from snellen.data.phantom.draws import mixed

MAIN, OTHER = 16, 32  # codes below MAIN are scenes
NOTHING = 63  # the code of a flat fill, which no pixel of the world has
FLAT = ((0, 0, 0), (255, 255, 255), (127, 127, 127), (128, 128, 128), (124, 116, 104))  # the last: the ImageNet mean
HIGH = np.uint32(0xFCFCFC)  # the six high bits of each channel of a colour packed as red + 2^8 green + 2^16 blue


def spread(codes: np.ndarray) -> np.ndarray:
    """6-bit codes as the two low bits of each channel of a packed colour, uint32 of the same shape."""
    codes = np.asarray(codes).astype(np.uint32)
    return (codes & 3) | (codes << 6 & 0x300) | (codes << 12 & 0x30000)


@lru_cache(maxsize=1)
def _hashes() -> np.ndarray:
    """A 6-bit hash for each of the 2^18 settings of the high bits, as low bits of a packed colour.

    Pseudo-random but for those of the colours FLAT, chosen such that they read as NOTHING.
    """
    hashes = spread(mixed(np.arange(1 << 18, dtype=np.uint64)) >> np.uint64(58))
    flat = np.array(FLAT, np.uint32) @ np.array([1, 1 << 8, 1 << 16], np.uint32)
    hashes[_address(flat)] = (flat & ~HIGH) ^ spread(np.array(NOTHING))
    return hashes


def _address(packed: np.ndarray) -> np.ndarray:
    """The high bits of packed colours as one number of 18 bits."""
    return ((packed >> 2 & 0x3F) | (packed >> 4 & 0xFC0) | (packed >> 6 & 0x3F000)).astype(np.intp)


def _hash(packed: np.ndarray) -> np.ndarray:
    return _hashes().take(_address(packed))


def write(packed: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Colours packed in uint32 with the marks of `codes`, which broadcast against them; high bits stay as they were."""
    return (packed & HIGH) | (_hash(packed) ^ spread(codes))


def read(images: np.ndarray) -> np.ndarray:
    """The codes uint8 [B, H, W] of images uint8 [B, H, W, 3] of the phantom world."""
    red, green, blue = (images[..., channel].astype(np.uint32) for channel in range(3))
    packed = red | green << 8 | blue << 16
    low = (packed ^ _hash(packed)) & ~HIGH
    return ((low & 3) | (low >> 6 & 12) | (low >> 12 & 48)).astype(np.uint8)
