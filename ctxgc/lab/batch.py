"""Many transcripts, in several processes: what to compare, and what came of each segment.

Rule: a file is the unit of work, the largest first; results come in the order of the files, whoever was ready first.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from ctxgc.errors import InputError
from ctxgc.lab.billing import Fit
from ctxgc.lab.cases import Case, case_of
from ctxgc.lab.classes import PriceClass
from ctxgc.lab.comparison import Run, compare
from ctxgc.lab.judge import Judged
from ctxgc.lab.segments import segments
from ctxgc.lab.transcripts import ACCEPTED, read

SIZES = ("calibrated", "counted", "reported")
ENDINGS = (".jsonl", ".json", ".jsonl.gz", ".json.gz")


@dataclass(frozen=True, slots=True)
class Plan:
    """What to compare: policies by name at price classes, on segments of more than ``min_tokens``.

    A segment's size is that of its largest request, ``calibrated`` or as ``counted`` by us, or the input that its
    provider ``reported`` last (0 where it did not).
    """

    policies: tuple[str, ...]
    classes: tuple[PriceClass, ...]
    min_tokens: int = 0
    size: str = SIZES[0]

    def takes(self, case: Case) -> bool:
        """Whether a segment is large enough."""
        sizes = {"calibrated": case.peak, "counted": case.peak_count, "reported": case.reported}
        return self.min_tokens <= 0 or sizes[self.size] > self.min_tokens


@dataclass(frozen=True, slots=True)
class Compared:
    """A segment, measured: see ``Case`` for its figures, and ``compare`` for its runs."""

    name: str
    source: str
    model: str
    fit: Fit
    never: Judged
    peak_count: int
    peak: float
    reported: int
    runs: tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class Batch:
    """What a batch came to: segments in the order of their files, how many were too small, and files not read."""

    compared: tuple[Compared, ...]
    small: int = 0
    errors: tuple[str, ...] = ()


def files(paths: Sequence[Path]) -> tuple[Path, ...]:
    """The files of paths, folders opened (not those inside them). Raises ``InputError`` for a folder without any."""
    return tuple(file for path in paths for file in (_inside(path) if path.is_dir() else [path]))


def run_batch(
    paths: Sequence[Path],
    plan: Plan,
    jobs: int = 1,
    *,
    keep_going: bool = False,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Batch:
    """Compare everything in files, ``jobs`` at a time. Raises ``InputError`` for the first file that cannot be read,
    but where it is to ``keep_going``; and ``PolicyError``. ``progress`` is told how many files of all are done."""
    found: dict[Path, Batch] = {}
    for path, one in _results(paths, plan, min(jobs, len(paths))):
        if one.errors and not keep_going:
            raise InputError(one.errors[0])
        found[path] = one
        progress(len(found), len(set(paths)))
    ordered = [found[path] for path in dict.fromkeys(paths)]
    return Batch(
        tuple(segment for one in ordered for segment in one.compared),
        sum(one.small for one in ordered),
        tuple(error for one in ordered for error in one.errors),
    )


def compare_file(path: Path, plan: Plan) -> Batch:
    """Compare what is in one file. An unreadable one is an error of the batch. Raises ``PolicyError``."""
    made: list[Compared] = []
    small = 0
    try:
        for transcript in read(path):
            for segment in segments(transcript):
                case = case_of(segment)
                if plan.takes(case):
                    made.append(_compared(case, str(path), compare(case, plan.policies, plan.classes)))
                else:
                    small += 1
    except InputError as error:
        return Batch(tuple(made), small, (str(error),))
    return Batch(tuple(made), small)


def _results(paths: Sequence[Path], plan: Plan, jobs: int) -> Iterator[tuple[Path, Batch]]:
    unique = list(dict.fromkeys(paths))
    if jobs <= 1 or len(unique) <= 1:
        yield from ((path, compare_file(path, plan)) for path in unique)
        return
    # Spawned: a process that was forked from one with threads can hang.
    # A Ctrl-C is for the process that waits for them.
    deaf = partial(signal.signal, signal.SIGINT, signal.SIG_IGN)
    with ProcessPoolExecutor(min(jobs, len(unique)), get_context("spawn"), deaf) as pool:
        waiting: dict[Future[Batch], Path] = {
            pool.submit(compare_file, path, plan): path for path in sorted(unique, key=_size, reverse=True)
        }
        try:
            for future in as_completed(waiting):
                yield waiting[future], future.result()
        except BaseException:  # nobody waits for the rest; else it is waited for, so that the pool's thread has ended
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _compared(case: Case, source: str, runs: tuple[Run, ...]) -> Compared:
    return Compared(
        name=case.segment.name,
        source=source,
        model=case.model,
        fit=case.fit,
        never=case.never,
        peak_count=case.peak_count,
        peak=case.peak,
        reported=case.reported,
        runs=runs,
    )


def _inside(folder: Path) -> list[Path]:
    try:
        found = sorted(path for path in folder.iterdir() if path.name.endswith(ENDINGS) and path.is_file())
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror or error}") from None
    if not found:
        raise InputError(f"{folder}: no transcripts in this folder ({', '.join(ENDINGS)}); {ACCEPTED}")
    return found


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
