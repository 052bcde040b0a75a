"""Where an app is served: the settings that every command which serves one has."""

from __future__ import annotations

from dataclasses import dataclass

from snellen.request import Request, setting

LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")


@dataclass(frozen=True, kw_only=True)
class ServeRequest(Request):
    """Where an app listens, under which names it may be called, and what stands in front of it."""

    host: str = setting("address to listen on; 0.0.0.0 is every network of this machine", "127.0.0.1")
    port: int = setting("port to listen on; 0 takes a free one", 8000, at_least=0, at_most=65535)
    names: tuple[str, ...] = setting(
        "host names under which the app may be called, such as study.example.org", (), commas=True, metavar="NAME,…"
    )
    https: bool = setting("visitors come by https, through a reverse proxy: cookies are for https alone", False)
    proxy: str | None = setting("address of a reverse proxy whose X-Forwarded-For is believed")

    @property
    def allowed(self) -> frozenset[str]:
        """The host names that are answered, in lower case."""
        named = {self.host} if ":" not in self.host else {f"[{self.host}]"}
        return frozenset(name.lower() for name in {*LOCAL_NAMES, *self.names, *named} - {"0.0.0.0", "[::]"})

    def url(self, port: int) -> str:
        """The address that people type: the first name given, else the one listened on."""
        scheme = "https" if self.https else "http"
        if self.names:
            return f"{scheme}://{self.names[0]}" + ("" if self.https else f":{port}")
        host = "127.0.0.1" if self.host in ("0.0.0.0", "::") else self.host
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"
