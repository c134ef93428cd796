"""Threads over rows: every row once, BLAS on one thread inside, and errors that reach the caller."""

import threading
import time
from collections import Counter
from threading import get_ident

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

from mercer.kernels.threads import available_threads, row_slices, rows_times, run_in_threads, run_over_rows


@given(n=st.integers(0, 300), per_row=st.integers(0, 50), budget=st.integers(0, 400))
def test_slices_cover_all_rows_once_within_the_budget(n, per_row, budget):
    slices = row_slices(n, per_row, budget)
    covered = [i for part in slices for i in range(n)[part]]
    assert covered == list(range(n))
    for part in slices:
        length = part.stop - part.start
        assert length >= 1
        assert length == 1 or length * per_row <= budget


def test_the_number_of_threads():
    assert available_threads(3) == 3
    assert available_threads(None) >= 1
    assert available_threads(-1) == available_threads(None)
    assert available_threads(-1000) == 1


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_take_every_item_once(threads):
    seen, lock = Counter(), threading.Lock()

    def work(worker, item):
        assert 0 <= worker < threads
        with lock:
            seen[item] += 1

    run_in_threads(work, range(100), threads)
    assert seen == Counter(range(100))
    run_in_threads(work, [], threads)
    assert seen.total() == 100


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_in_a_thread_reaches_the_caller(threads):
    def work(worker, item):
        if item == 7:
            raise ArithmeticError("seven")

    with pytest.raises(ArithmeticError, match="seven"):
        run_in_threads(work, range(20), threads)


def test_after_an_interrupt_the_other_threads_stop_at_their_next_item():
    seen, interrupted = [], threading.Event()

    def work(worker, item):
        if worker == 0:
            interrupted.set()
            raise KeyboardInterrupt
        interrupted.wait(10)
        time.sleep(0.001)  # the calling thread gets its turn
        seen.append(item)

    with pytest.raises(KeyboardInterrupt):
        run_in_threads(work, range(2000), 2)
    assert len(seen) < 1000  # the other thread has 1000 items


@pytest.mark.parametrize(
    ("products", "afterwards", "given", "slices", "blas", "calls"),
    [
        (2**25, 0, 2, 1, 1, 2),  # the threads of Python share the rows, and BLAS has one in each
        (2**25, 2**25, 2, 5, 1, 5),
        (2**24, 0, 2, 1, 1, 1),  # a few products
        (2**24, 2**24, 2, 4, 1, 4),
        (2**24, 2**25, 2, 1, 2, 1),  # threads of BLAS, for the many that come afterwards
        (2**25, 0, 1, 1, 2, 1),  # threads of BLAS, since there is only one other
        (2**24, 0, 1, 1, 1, 1),
        (2**18, 0, 2, 1, 2, 1),  # so few that BLAS takes one thread by itself
    ],
)
def test_work_on_rows_is_shared_by_threads_of_one_kind(products, afterwards, given, slices, blas, calls):
    done, threads, seen = np.zeros(100, int), set(), []

    def work(rows: slice) -> None:
        done[rows] += 1
        threads.add(get_ident())
        seen.append({one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"})

    with threadpool_limits(2):
        run_over_rows(work, row_slices(100, 1, 100 // slices), products, given, afterwards)
        assert available_threads() == 2
    assert (done == 1).all()
    assert seen == [{blas}] * calls
    assert len(threads) == (2 if products > 2**24 and given == 2 else 1)


@pytest.mark.parametrize("shape", [(0, 3, 2), (1, 3, 2), (7, 0, 2), (5000, 60, 70)])
def test_rows_times_a_small_matrix(shape, rng):
    n, k, r = shape
    A, B = rng.standard_normal((n, k)).astype("f4"), rng.standard_normal((k, r))
    np.testing.assert_allclose(rows_times(A, B), A @ B, rtol=1e-12, atol=1e-12)
    assert rows_times(A, B).dtype == np.float64
