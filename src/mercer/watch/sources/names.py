"""Names of sources for the page and the state."""

from urllib.parse import SplitResult


def without_password(parts: SplitResult) -> str:
    """Return an address without user, password and query."""
    host = parts.hostname or "localhost"
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{host}{port}{parts.path}"
