"""JSON in and out: bodies decoded into a declared type, refusals as one line of JSON."""

from __future__ import annotations

from typing import Any, NoReturn, TypeVar

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from snellen.errors import one_line

T = TypeVar("T")


class Refusal(Exception):
    """A request that is not carried out: a status and one line that says what was expected."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status, self.text = status, one_line(text)


def not_there() -> NoReturn:
    """Refuse as if nothing were there (404): the same for what does not exist and what is someone else's."""
    raise Refusal(404, "not found")


async def decoded(request: Request, kind: type[T]) -> T:
    """The JSON body of a request as a declared type (a `msgspec.Struct`); what does not fit is refused (400, 415)."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Refusal(415, "expected a body of type application/json")
    body = await request.body()
    if b"\\u0000" in body:  # no database keeps it
        raise Refusal(400, "expected text without the character U+0000")
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Refusal(400, f"cannot read the request: {error}") from None


def as_json(value: Any, status: int = 200) -> Response:
    """A response with a value as JSON."""
    return Response(msgspec.json.encode(value), status, media_type="application/json")


async def _refused(_: Request, refusal: Exception) -> Response:
    assert isinstance(refusal, Refusal)
    return as_json({"error": refusal.text}, refusal.status)


async def _http(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    response = as_json({"error": error.detail.lower()}, error.status_code)
    response.headers.update(error.headers or {})
    return response


async def _defect(_: Request, error: Exception) -> Response:
    """A defect of ours: one line for the visitor; the traceback goes to the terminal of the server."""
    return as_json({"error": "the server made a mistake; nothing was lost, try again"}, 500)


HANDLERS: Any = {
    Refusal: _refused,
    HTTPException: _http,
    Exception: _defect,
}  # of a Starlette app, `exception_handlers=`
