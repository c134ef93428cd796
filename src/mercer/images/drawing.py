"""Where a random generator stands, as plain data: a tracker that was saved goes on as if it had not been."""

from typing import Any

import numpy as np

from mercer.errors import NotSaveableError


def generator_state(generator: np.random.RandomState) -> list[Any]:
    """Return keys, position, and the second number of the last pair that was drawn, where it waits."""
    state = generator.get_state(legacy=False)
    if state["bit_generator"] != "MT19937":
        raise NotSaveableError(
            f"A tracker that draws from {state['bit_generator']} cannot be saved. Pass a number as random_state."
        )
    return [state["state"]["key"], int(state["state"]["pos"]), int(state["has_gauss"]), float(state["gauss"])]


def restored_generator(state: list[Any]) -> np.random.RandomState:
    """Return a generator that draws what the saved one would have drawn next."""
    found = np.random.RandomState()
    found.set_state(("MT19937", *state))
    return found
