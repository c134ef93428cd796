"""
A process, row by row
=====================

Rows of a process follow each other, so they are not independent. `mercer.ProcessMonitor` learns from normal
operation, estimates how many independent rows these are worth, and keeps its rate of false alarms.
"""

# %%
# Five sensors of a heated tank: two slow causes (load and ambient temperature) move all of them. From row 350 on the
# level sensor drifts away; from row 550 on the pump loses power, so that flow and pressure no longer fit the valve.
import numpy as np
import pandas as pd

from mercer import ProcessMonitor, plots

rng = np.random.default_rng(3)


def slow(n):
    """Return a quantity that wanders around its level."""
    state, path = 0.0, []
    for shock in rng.standard_normal(n):
        state = 0.9 * state + np.sqrt(1 - 0.81) * shock
        path.append(state)
    return np.array(path)


def tank(n):
    """Return one row per minute of normal operation."""
    load, ambient = slow(n), slow(n)
    noise = rng.standard_normal((n, 5))
    valve = 50 + 8 * load + 0.8 * noise[:, 0]
    flow = 20 + 0.3 * (valve - 50) + 0.004 * (valve - 50) ** 2 + 0.3 * noise[:, 1]
    pressure = 3 + 0.05 * (flow - 20) + 0.02 * noise[:, 2]
    heat = 70 + 2.5 * ambient - 0.8 * (flow - 20) + 0.4 * noise[:, 3]
    level = 1.5 + 0.02 * load + 0.01 * noise[:, 4]
    times = pd.date_range("2026-01-05 06:00", periods=n, freq="min")
    return pd.DataFrame({"valve": valve, "flow": flow, "pressure": pressure, "heat": heat, "level": level}, times)


normal, new = tank(1500), tank(700)
new.iloc[350:500, 4] += np.linspace(0, 0.12, 150)
new.iloc[550:, 1] -= 2.0
new.iloc[550:, 2] -= 0.1

# %%
# The monitor learns from 1500 rows of normal operation. The summary says what it found and what it chose.
monitor = ProcessMonitor(alpha=0.01).fit(normal)
print(monitor.summary())

# %%
# T2, SPE and the slow means over time, each in units of its limit; red bands are alarms. Slow means show shifts that
# are small but last. Below, what each sensor contributes: first mainly the level sensor, then valve and flow, which no
# longer fit each other.
figure = plots.monitor(monitor, new)

# %%
# In operation rows arrive one by one, or in blocks of any size; the verdicts are the same.
verdicts = monitor.judge(new)
print(f"false alarms in the first 350 rows: {verdicts.alarm[:350].sum()}")
print(verdicts.to_frame().iloc[[100, 450, 600]])
