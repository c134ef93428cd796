"""Run experiments in turn: skip finished ones, continue if one cannot run, and write complete files only."""

import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

from mercer import datasets
from mercer.errors import MissingExtraError
from papers import page, report
from papers.comparison import not_judged
from papers.experiment import FULL, Experiment, Outcome, Run
from papers.result import DONE, FAILED, NOT_RUN, Result, load_result
from papers.resume import Stages, fingerprint

Tell = Callable[[str], None]


def run_all(
    chosen: Sequence[tuple[str, Experiment]],
    out: Path,
    *,
    scale: str = "full",
    home: Path | None = None,
    again: bool = False,
    tell: Tell = lambda text: None,
    finished: Callable[[Result, bool], None] = lambda result, fresh: None,
) -> list[Result]:
    """Run experiments and update `summary.html` after each; `finished` gets every result and whether it is new."""
    results = []
    for key, experiment in chosen:
        tell(f"{key}:{experiment.name}")
        result, fresh = run_one(key, experiment, out, scale=scale, home=home, again=again, tell=tell)
        results.append(result)
        page.write_summary(out)
        finished(result, fresh)
    return results


def run_one(
    key: str,
    experiment: Experiment,
    out: Path,
    *,
    scale: str = "full",
    home: Path | None = None,
    again: bool = False,
    tell: Tell = lambda text: None,
) -> tuple[Result, bool]:
    """Return the result of an experiment, and whether it had to be computed."""
    folder, settings = out / key / experiment.name, experiment.scales[scale]
    sizes = {name: _size(name, home) for name in experiment.data}
    mark = fingerprint(f"{key}:{experiment.name}", settings, sizes, experiment.run)
    before = load_result(folder)
    if before is not None and before.mark == mark and before.state == DONE and not again:
        return before, False
    stages = Stages(folder / "stages", mark)
    stages.clear_others()
    run = Run(
        settings,
        stages,
        home,
        lambda text: tell(f"{key}:{experiment.name}: {text}"),
        allow_substitute=scale != FULL,  # at the size of the paper no substitute data are used
    )
    today = date.today().isoformat()
    result = Result(key, experiment.name, scale, mark, measured=today, settings=dict(settings), sources=run.sources)
    result.substitutes = run.substitutes
    start = time.perf_counter()
    outcome = _attempt(experiment, run, result)
    result.seconds = time.perf_counter() - start
    if outcome is not None:
        _keep(outcome, result, folder)
    result.save(folder)
    return result, True


def _attempt(experiment: Experiment, run: Run, result: Result) -> Outcome | None:
    """Run an experiment; None if it cannot run, and then the result says why."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            return experiment.run(run)
        except (FileNotFoundError, MissingExtraError) as error:
            result.state, result.reason = NOT_RUN, str(error)
        except Exception as error:  # a failure must not stop the other experiments, and is recorded
            place = traceback.extract_tb(error.__traceback__)[-1]
            result.state = FAILED
            result.reason = f"{type(error).__name__}: {error} ({Path(place.filename).name}, line {place.lineno})"
        finally:
            result.warnings = list(dict.fromkeys(str(one.message) for one in heard))
    return None


def _keep(outcome: Outcome, result: Result, folder: Path) -> None:
    result.comparisons = not_judged(outcome.comparisons) if result.substitutes else list(outcome.comparisons)
    result.remarks = list(outcome.remarks)
    result.captions = {name: drawing.caption for name, drawing in outcome.drawings.items()}
    report.write_figures(outcome.drawings, folder)
    report.write_table(result.comparisons, folder)


def _size(name: str, home: Path | None) -> int | None:
    path = datasets.archive(name, home)
    return None if path is None else path.stat().st_size
