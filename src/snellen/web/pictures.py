"""Pictures whose address, name, headers and content tell nothing but their pixels."""

from __future__ import annotations

import io
import secrets
import threading

import numpy as np
from PIL import Image
from starlette.responses import Response


def new_address() -> str:
    """A random address of a picture, 24 characters; drawn anew for each person and image."""
    return secrets.token_urlsafe(18)


def plain_png(pixels: np.ndarray) -> bytes:
    """Pixels, uint8 [H, W, 3] or [H, W, 4], as a PNG file without metadata."""
    buffer = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels)).save(buffer, "png")
    return buffer.getvalue()


def picture(png: bytes) -> Response:
    """A PNG file as a response that this visitor's browser may keep, and nothing in between."""
    return Response(png, media_type="image/png", headers={"cache-control": "private, max-age=3600, immutable"})


class Addresses:
    """Random addresses of things per person, for as long as the server runs; another person's address leads nowhere."""

    def __init__(self) -> None:
        self._addresses: dict[tuple[str, str], str] = {}
        self._things: dict[tuple[str, str], str] = {}
        self._lock = threading.Lock()

    def of(self, person: str, thing: str) -> str:
        """The address of a thing for a person, the same at every call."""
        with self._lock:
            address = self._addresses.setdefault((person, thing), new_address())
            self._things[person, address] = thing
            return address

    def thing(self, person: str, address: str) -> str | None:
        """What lies at an address for this person; None where nothing does."""
        return self._things.get((person, address))
