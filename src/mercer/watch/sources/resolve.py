"""From what a user writes to a source."""

from pathlib import Path
from urllib.parse import urlsplit

from mercer.watch.sources.base import Source
from mercer.watch.sources.demo import DemoSource
from mercer.watch.sources.file import FileSource
from mercer.watch.sources.standard_input import StandardInput


def source_of(text: str | None, *, follow: bool = False, demo: bool = False) -> Source:
    """Return the source that an argument names: a file, - for standard input, or an address."""
    if demo and text is not None:
        raise ValueError(f"--demo makes its own rows; leave out {text}, or --demo.")
    if demo:
        return DemoSource()
    if text is None:
        raise ValueError("Give a file, - for standard input, an address such as mqtt://host/topic, or --demo.")
    if text == "-":
        return StandardInput()
    scheme = urlsplit(text).scheme
    if "://" not in text:
        return FileSource(Path(text), follow)
    if scheme in ("mqtt", "mqtts"):
        from mercer.watch.sources.mqtt import MqttSource

        return MqttSource(text)
    if scheme in ("redis", "rediss", "unix"):
        from mercer.watch.sources.redis_stream import RedisSource

        return RedisSource(text)
    raise ValueError(f"{scheme}:// is no kind of source; there are mqtt://, mqtts://, redis://, rediss:// and files.")
