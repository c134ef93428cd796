"""What a saved tracker holds beside its attributes: it goes on as if it had not been saved."""

from typing import Any

from sklearn.exceptions import NotFittedError

from mercer.arrays import Array
from mercer.estimators.model_files import ModelFiles
from mercer.images.drawing import generator_state, restored_generator
from mercer.images.kernel_view import view_of
from mercer.images.motion import Field, MotionPrior


class TrackerFiles(ModelFiles):
    """Saving and loading of `AppearanceTracker`."""

    spread: tuple[float, float, float]
    estimator_: Any
    _first: Array
    _last: Array
    _waiting: list[Array]
    _later: list[Array]
    memory_: Any

    def _check_fitted(self) -> None:
        if not hasattr(self, "estimator_"):
            raise NotFittedError("The tracker has no object yet; call start(frame, box) first.")

    def _saved_state(self) -> dict[str, Any]:
        return {
            **super()._saved_state(),
            "frames": [list(self._field.size), list(self._field.shape)],
            "motion": [self._prior.variances, self._seen],
            "patches": [self._first, self._last, *self._waiting],
            "later": list(self._later),
            "residuals": list(self._residuals),
            "random": generator_state(self._random),
        }

    def _restore_state(self, state: dict[str, Any]) -> None:
        super()._restore_state(state)
        (w, h), (height, width) = state["frames"]
        self._field = Field((w, h), (height, width))
        variances, self._seen = state["motion"]
        self._prior = MotionPrior(MotionPrior.of(self.spread).given, variances)
        self._first, self._last, *self._waiting = state["patches"]
        self._later = list(state["later"])
        self._residuals = list(state["residuals"])
        self._random = restored_generator(state["random"])
        self._view = view_of(self.estimator_)
        self._recalled = None if self.memory_ is None else view_of(self.memory_)
