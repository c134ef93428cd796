"""Seeds for what is drawn on workers."""

from copy import copy
from typing import Any

from numpy.random import RandomState

from mercer.estimators.validation import generator


def seed_of(random_state: Any) -> int:
    """Return a seed for the sample; a generator that is given is not advanced."""
    state = copy(random_state) if isinstance(random_state, RandomState) else random_state
    return int(generator(state).randint(2**31))
