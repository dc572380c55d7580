"""Chunks on a Dask cluster: one of this machine's own, or one that is somewhere else.

A worker keeps the mechanism and what was compiled for it from chunk to chunk; chunks that were on a worker that died run again
on another one, and give the same bytes.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import count, islice
from queue import Empty, SimpleQueue
from typing import Any

from eslabon.arguments import Floats
from eslabon.compiler.function import cores
from eslabon.errors import EslabonError, InputError, MissingDependencyError, format_value
from eslabon.measures.native_batches import native_threads
from eslabon.sweeps.chunks import Chunk, Task, run_chunk

AHEAD = 3  # chunks for each thread of the workers that are under way: the others wait, so that memory stays bounded
PATIENCE = "30s"  # for a scheduler to answer, and for workers to come
LOOK, LOOKS = 5.0, 6  # seconds after which workers are looked for, and how often in vain
CANCELLED = (asyncio.CancelledError, concurrent.futures.CancelledError)
Piece = tuple[Chunk, Mapping[str, Floats]]
Pieces = Iterator[Piece]


class ClusterError(EslabonError, RuntimeError):
    """Chunks of a sweep that no worker of a cluster could finish."""


@contextmanager
def on_cluster(cluster: Any) -> Iterator[Callable[[Task, Pieces], Iterator[tuple[Chunk, Any]]]]:
    """What runs chunks on a cluster, which is stopped afterwards if it was started for them."""
    with ExitStack() as stack:
        client = _client(cluster, stack)
        yield lambda task, pieces: _finished(client, task, pieces)


def _client(cluster: Any, stack: ExitStack) -> Any:
    """A client of the cluster that is meant."""
    distributed = _dask()
    if isinstance(cluster, distributed.Client):
        return cluster
    if not isinstance(cluster, str):
        raise InputError(
            f'cluster is "local", the address of a Dask scheduler such as "tcp://10.0.0.5:8786", or a distributed.Client; it is {format_value(cluster)}.'
        )
    if cluster == "local":
        return stack.enter_context(local_client())
    try:
        return stack.enter_context(
            distributed.Client(cluster, timeout=PATIENCE, set_as_default=False)
        )
    except (OSError, ValueError, TimeoutError) as error:
        raise InputError(f"no Dask scheduler answers at {format_value(cluster)} ({error}); start one, or use cluster=\"local\".") from None  # fmt: skip


def _dask() -> Any:
    try:
        import distributed
    except ImportError:
        raise MissingDependencyError(
            "a cluster needs Dask; install it with pip install 'eslabon[cluster]'."
        ) from None
    return distributed


@contextmanager
def local_client() -> Iterator[Any]:
    """A client of a worker for each core of this machine, each in a process of its own that takes nothing from this one: a script
    needs no guard around what it does."""
    import logging

    from distributed.deploy import subprocess

    start: Any = subprocess.SubprocessCluster
    workers = {
        "n_workers": cores(),
        "threads_per_worker": 1,
        "worker_kwargs": {"dashboard_address": None},
    }
    with (
        start(dashboard_address=None, silence_logs=logging.ERROR, **workers) as cluster,
        _dask().Client(cluster, timeout=PATIENCE, set_as_default=False) as client,
    ):
        client.register_plugin(_paths())
        yield client


def _paths() -> Any:
    """What lets workers of this machine find the modules that this process finds, also those that take a dead one's place."""
    distributed, known = _dask(), list(sys.path)

    class Paths(distributed.WorkerPlugin):  # type: ignore[name-defined, misc]
        def setup(self, worker: Any) -> None:
            sys.path.extend(path for path in known if path not in sys.path)

    return Paths()


def _finished(client: Any, task: Task, pieces: Pieces) -> Iterator[tuple[Chunk, Any]]:
    """Chunks in the order in which they are finished, with a few more under way than there are threads."""
    # As the result of a task it is computed again should all workers that have it die; each worker has it once.
    shipped = client.submit(_received, _sent(task), pure=False)
    lost: list[Piece] = []
    yield from _at_once(client, shipped, pieces, AHEAD * _threads(client), lost)
    fatal: list[Piece] = []
    yield from _at_once(
        client, shipped, iter(lost), 1, fatal
    )  # by itself: it may have died with another one
    if fatal:
        raise ClusterError(
            f"{len(fatal)} of the chunks killed the workers they ran on, such as chunk {fatal[0][0].number}, perhaps for want of memory; "
            "all others are finished. Take smaller chunks (chunk=...), or workers with more memory."
        )


def _at_once(
    client: Any, shipped: Any, pieces: Pieces, most: int, lost: list[Piece]
) -> Iterator[tuple[Chunk, Any]]:
    """The same with so many under way at most; those with which workers died too often are lost."""
    under_way, finished = dict[Any, Piece](), SimpleQueue[Any]()

    def submit(more: int) -> None:
        for piece in islice(pieces, more):
            future = client.submit(_on_worker, shipped, *piece, pure=False)
            under_way[future] = piece
            future.add_done_callback(finished.put)

    submit(most)
    while under_way:
        future = _first(client, finished)
        piece = under_way.pop(future)
        try:
            rows = future.result()
        except _dask().KilledWorker:
            lost.append(piece)
        except CANCELLED:
            raise _left_alone(client) from None
        except Exception as error:
            raise ClusterError(
                f"chunk {piece[0].number} cannot run on the cluster ({type(error).__name__}: {error}); its workers need this version of "
                "eslabon, and all that the quantity imports."
            ) from error
        else:
            yield piece[0], rows
        future.release()
        submit(1)


def _first(client: Any, finished: SimpleQueue[Any]) -> Any:
    """The next one that is finished; a sentence if nobody is left who could finish any."""
    for looks in count():
        try:
            return finished.get(timeout=LOOK)
        except Empty:
            if looks % LOOKS == LOOKS - 1 and not _workers(client):
                raise _left_alone(client) from None


def _left_alone(client: Any) -> ClusterError:
    return ClusterError(
        f"the cluster at {client.scheduler.address} has no workers any more, or its scheduler is gone. Start them again; with a folder "
        "the same call goes on from what is finished."
    )


def _workers(client: Any) -> int:
    try:
        return len(client.nthreads())
    except (OSError, TimeoutError):
        return 0


def _on_worker(task: Task, chunk: Chunk, designs: Mapping[str, Floats]) -> Any:
    """A chunk on one thread of a worker, which has a thread for each core that it may use."""
    with native_threads(1):
        return run_chunk(task, chunk, designs)


def _sent(task: Task) -> bytes:
    try:
        sent: bytes = _dask().protocol.pickle.dumps(task)
    except Exception as error:  # whatever a foreign object raises
        raise InputError(
            f"the quantity cannot be sent to other processes ({error}); let it use numbers, arrays, mechanisms and functions, or leave "
            "cluster out."
        ) from None
    return sent


def _received(task: bytes) -> Task:
    found: Task = _dask().protocol.pickle.loads(task)
    return found


def _threads(client: Any) -> int:
    """How many chunks the workers run at once."""
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        raise ClusterError(
            f"the cluster at {client.scheduler.address} has no workers; start some."
        ) from None
    return sum(client.nthreads().values())
