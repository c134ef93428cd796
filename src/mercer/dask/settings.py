"""What can be set about the work on a cluster, in one place."""

from dataclasses import dataclass


@dataclass
class Work:
    """Settings of this process."""

    patience: float = 60.0  # seconds without any worker, after which a fit gives up
    connect: float = 10.0  # seconds to wait for a scheduler
    group: int = 16  # partitions whose moments are added on the workers before they are sent
    fan_in: int = 8  # results that one task adds up


WORK = Work()
