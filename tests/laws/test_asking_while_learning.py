"""The law of chunks that are being learned: whoever asks the model meanwhile gets the answers of the model before."""

import inspect

import numpy as np
import pytest

from mercer.kernels.user_given import MatrixFunction
from public_estimators import make
from stream_variants import every_stream

pytestmark = pytest.mark.filterwarnings("ignore")


class Asking:
    """A Gaussian kernel of matrices that asks a model at each of its calls, as another thread could."""

    def __init__(self) -> None:
        self.ask, self.answers = None, []

    def __call__(self, A, B) -> np.ndarray:
        if self.ask is not None:
            ask, self.ask = self.ask, None  # its own kernel values are computed without asking again
            self.answers.append(ask())
            self.ask = ask
        A, B = np.atleast_2d(A), np.atleast_2d(B)
        return np.exp(-0.2 * ((A[:, None] - B[None]) ** 2).sum(axis=2))


def learning(cls, more, kernel, chunks):
    model = make(cls, kernel=MatrixFunction(kernel, {}), **more)
    for rows in chunks:
        model.partial_fit(rows)
    return model


@every_stream
@pytest.mark.parametrize("asked_before", [True, False])
def test_a_chunk_is_seen_as_a_whole(cls, more, asked_before, rng):
    if "kernel" not in inspect.signature(cls).parameters:
        pytest.skip("has no kernel")
    X, new = rng.standard_normal((160, 5)) + 1, rng.standard_normal((6, 5)) + 1
    X[80:] += 4.0  # new landmarks are chosen where the model forgets
    chunks = np.split(X, [2, 9, 13, 40, 80, 110])
    for count in range(1, len(chunks)):
        kernel = Asking()
        model = learning(cls, more, kernel, chunks[:count])
        alone = learning(cls, more, Asking(), chunks[:count])
        expected = alone.transform(new)
        if asked_before:
            model.transform(new)
        kernel.ask = lambda model=model: model.transform(new)
        model.partial_fit(chunks[count])
        kernel.ask = None
        assert kernel.answers
        assert all(np.array_equal(answer, expected) for answer in kernel.answers)
        assert np.array_equal(model.transform(new), alone.partial_fit(chunks[count]).transform(new))
