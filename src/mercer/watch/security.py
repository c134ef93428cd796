"""Who may ask: checks of Host, Origin and token in front of every request, and headers on every answer.

A page of another site can make a browser send requests to this server. It cannot choose the Host header's name and
reach us by it, unless it points a name of its own to our address (DNS rebinding): so only known names and addresses
are accepted. It cannot hide its Origin: so only our own is accepted.
"""

import hashlib
import hmac
import ipaddress
import json
import secrets
import socket
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

SHORTEST_TOKEN = 16  # characters
_CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
HEADERS = {
    "content-security-policy": _CSP,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def new_token() -> str:
    """Return a token that nobody guesses."""
    return secrets.token_urlsafe(32)


@dataclass(frozen=True)
class Guard:
    """What is accepted."""

    host: str  # the address that the server is bound to
    port: int
    token: str | None = None
    names: frozenset[str] = field(default_factory=frozenset)  # further names of this machine

    def __post_init__(self) -> None:
        if self.token is None and not is_loopback(self.host):
            raise ValueError(f"{self.host} can be reached from other machines, so a token is needed: --token")
        if self.token is not None and (len(self.token) < SHORTEST_TOKEN or not self.token.isascii()):
            raise ValueError(f"A token needs at least {SHORTEST_TOKEN} letters, digits or signs of ASCII.")

    @property
    def cookie(self) -> str:
        """The name of the cookie; another port is another monitor."""
        return f"mercer_watch_{self.port}"

    @property
    def pass_word(self) -> str:
        """What the cookie holds: it proves the token and does not tell it."""
        return hmac.new((self.token or "").encode(), b"mercer watch cookie", hashlib.sha256).hexdigest()

    def host_is_ours(self, header: str) -> bool:
        """Tell whether a Host header names this machine: a known name, or an address of the kind we are bound to."""
        name, port = _name_and_port(header)
        if name is None or port not in (None, self.port):
            return False
        if name in ("localhost", self.host.lower()) or name in self.names:
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        return address.is_loopback or not is_loopback(self.host)

    def origin_is_ours(self, origin: str, host: str) -> bool:
        """Tell whether an Origin header is that of the page itself."""
        try:
            found = urlsplit(origin)
        except ValueError:
            return False
        return found.scheme in ("http", "https") and found.netloc.lower() == host.lower()

    def knows(self, authorization: str, cookies: str, query: str | None) -> bool:
        """Tell whether a request proves that its sender knows the token."""
        if self.token is None:
            return True
        given = authorization[7:] if authorization[:7].lower() == "bearer " else ""
        proofs = [(given, self.token), (_cookie(cookies, self.cookie), self.pass_word)]
        if query is not None:
            proofs.append((query, self.token))
        results = [_same(one, right) for one, right in proofs]  # all are compared, whatever the first says
        return any(results)


class Guarded:
    """An application behind a guard."""

    def __init__(self, app: App, guard: Guard) -> None:
        self.app, self.guard = app, guard

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        refused = self._refused(scope, headers)
        if refused is not None:
            await _answer(send, *refused)
        elif self.guard.token is not None and scope["path"] == "/" and _token(scope) is not None:
            await _answer(send, 303, "", self._cookie_headers())
        else:
            await self.app(scope, receive, _with_headers(send))

    def _refused(self, scope: Message, headers: dict[str, str]) -> tuple[int, str] | None:
        """Return status and reason where a request is refused."""
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        host = headers.get("host", "")
        if len(hosts) != 1 or not self.guard.host_is_ours(host):
            return 421, "This server is not known by that name; open it by its address."
        origin = headers.get("origin")
        if origin is not None and not self.guard.origin_is_ours(origin, host):
            return 403, "Requests of other sites are refused."
        if headers.get("sec-fetch-site") == "cross-site" and scope["path"] != "/":
            return 403, "Requests of other sites are refused."
        query = _token(scope) if scope["path"] == "/" else None
        if not self.guard.knows(headers.get("authorization", ""), headers.get("cookie", ""), query):
            return 401, "A token is needed: open the address that was printed at the start, or send it as Bearer."
        return None

    def _cookie_headers(self) -> Iterable[tuple[bytes, bytes]]:
        value = f"{self.guard.cookie}={self.guard.pass_word}; HttpOnly; SameSite=Strict; Path=/; Max-Age=31536000"
        return [(b"set-cookie", value.encode()), (b"location", b"/")]


def machine_names() -> frozenset[str]:
    """Return the names under which this machine is known."""
    name = socket.gethostname().lower()
    return frozenset({name, name.partition(".")[0]})


def _name_and_port(header: str) -> tuple[str | None, int | None]:
    """Return name and port of a Host header; None as name if it is malformed."""
    name, port = header.strip().lower(), ""
    if name.startswith("["):
        name, bracket, rest = name[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            return None, None
        port = rest[1:]
    elif ":" in name:
        name, _, port = name.partition(":")
    if port and not (port.isascii() and port.isdigit() and len(port) <= 5):
        return None, None
    return name or None, int(port) if port else None


def _token(scope: Message) -> str | None:
    """Return the token of the address of a request."""
    try:
        found = parse_qs(scope["query_string"].decode("ascii"), max_num_fields=8)
    except ValueError:
        return None
    tokens = found.get("token")
    return tokens[0] if tokens else None


def _cookie(header: str, name: str) -> str:
    """Return the value of the last cookie with this name; http.cookies stops at what others write, such as JSON."""
    pairs = (part.partition("=") for part in header.split(";"))
    return {key.strip(): value.strip() for key, _, value in pairs}.get(name, "")


def _same(given: str, right: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), right.encode())


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], *_fixed()]
        await send(message)

    return sending


def _fixed() -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in HEADERS.items()]


async def _answer(send: Send, status: int, text: str, more: Iterable[tuple[bytes, bytes]] = ()) -> None:
    body = json.dumps({"error": text}).encode() if text else b""
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": [*headers, *more, *_fixed()]})
    await send({"type": "http.response.body", "body": body})
