"""Tasks on workers use freed memory again, and leave the settings of the worker as they were."""

import os
import subprocess
import sys
import textwrap

import pytest

from mercer.dask.allocation import _library

CODE = """
    import resource
    import numpy as np
    from mercer.dask.allocation import memory_used_again

    def new_pages():
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for _ in range(50):
            np.empty(2**18).fill(1.0)
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

    outside = new_pages()
    with memory_used_again():
        with memory_used_again():
            new_pages()
        inside = new_pages()
    print(outside, inside, new_pages())
"""


@pytest.mark.skipif(_library() is None, reason="the settings of this C library cannot be changed")
def test_blocks_of_a_task_are_not_new_memory_each_time():
    environment = {**os.environ, "MALLOC_TRIM_THRESHOLD_": "65536"}
    code = textwrap.dedent(CODE)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    outside, inside, after = map(int, done.stdout.split())
    pages = 50 * 2**21 // 4096
    assert outside > 0.9 * pages  # how Dask's workers are: if not, the module is not needed any more
    assert inside < 0.1 * pages
    assert after > 0.9 * pages


def test_an_ordinary_process_is_left_alone(monkeypatch):
    from mercer.dask import allocation

    monkeypatch.delenv("MALLOC_TRIM_THRESHOLD_", raising=False)
    monkeypatch.setattr(allocation, "_set", lambda *given: pytest.fail("settings were changed"))
    with allocation.memory_used_again():
        assert allocation._inside == 0
