"""The API of a study as OpenAPI 3.1, from the very types that bodies are decoded into."""

from __future__ import annotations

from typing import Any

import msgspec

from snellen.web.study.bodies import AnswerBody, Arrival, Consent, EntryBody, Screen, StudyState, Withdrawal
from snellen.web.tokens import CSRF_HEADER

# path → the body it takes (None: a GET), whether it needs the cookie and CSRF token, and what it may refuse with
_PATHS: dict[str, tuple[type | None, bool, tuple[int, ...]]] = {
    "/api/enter": (EntryBody, False, (404, 429)),
    "/api/arrive": (Arrival, False, (404, 409)),
    "/api/state": (None, False, (401,)),
    "/api/consent": (Consent, True, (401, 403, 409)),
    "/api/screen": (Screen, True, (401, 403)),
    "/api/answer": (AnswerBody, True, (401, 403, 404, 409)),
    "/api/withdraw": (Withdrawal, False, (404, 429)),
}
_ALWAYS = (400, 413, 415)  # of any body


def describe_api(title: str = "snellen study") -> dict[str, Any]:
    """The description, for those who write a client of their own; every refusal is `{"error": one line}`."""
    bodies = [body for body, _, _ in _PATHS.values() if body is not None]
    references, schemas = msgspec.json.schema_components(
        [*bodies, StudyState], ref_template="#/components/schemas/{name}"
    )
    schema_of = dict(zip([*bodies, StudyState], references))
    error = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}
    paths: dict[str, Any] = {}
    for path, (body, is_private, refusals) in _PATHS.items():
        replies = {"200": _reply("done", {"type": "object"} if body is Withdrawal else schema_of[StudyState])}
        for status in (*refusals, *(_ALWAYS if body else ())):
            replies[str(status)] = _reply("refused", error)
        operation: dict[str, Any] = {"responses": dict(sorted(replies.items()))}
        if body is not None:
            operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema_of[body]}}}
        if is_private:
            text = {"type": "string"}
            operation["parameters"] = [{"name": CSRF_HEADER, "in": "header", "required": True, "schema": text}]
        paths[path] = {"post" if body else "get": operation}
    info = {"title": title, "version": "1"}
    return {"openapi": "3.1.0", "info": info, "paths": paths, "components": {"schemas": dict(schemas)}}


def _reply(text: str, schema: Any) -> dict[str, Any]:
    return {"description": text, "content": {"application/json": {"schema": schema}}}
