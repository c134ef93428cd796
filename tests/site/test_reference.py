"""The reference: every public name is in exactly one group."""

from collections import Counter
from importlib import import_module

import mercer
from mercer.registry import MODULES, PUBLIC
from site_parts import GROUPS

REACHED = {"mercer.monitoring.verdicts.Verdicts", "mercer.tables.prepared.PreparedModel"}  # returned, never imported


def public_names() -> set[str]:
    inner = {f"mercer.{name}.{one}" for name in MODULES for one in getattr(mercer, name).__all__}
    return {f"mercer.{name}" for name in PUBLIC} | inner


def test_every_public_name_is_in_exactly_one_group():
    shown = Counter(name for group in GROUPS for name in group.names)
    assert set(shown) - REACHED == public_names()
    assert set(shown.values()) == {1}


def test_what_is_shown_without_a_public_name_exists():
    for name in REACHED:
        module, _, one = name.rpartition(".")
        assert isinstance(getattr(import_module(module), one), type)


def test_groups_have_titles_of_their_own():
    assert len({group.key for group in GROUPS}) == len({group.title for group in GROUPS}) == len(GROUPS)
    assert all(group.text.endswith(".") and group.names for group in GROUPS)
