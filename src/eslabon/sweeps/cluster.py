"""Chunks on a Dask cluster: one of this machine's own, or one that is somewhere else.

A worker keeps the mechanism and what was compiled for it from chunk to chunk; chunks that were on a worker that died run again
on another one, and give the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import islice
from typing import Any

from eslabon.arguments import Floats
from eslabon.errors import EslabonError, InputError, MissingDependencyError, shown
from eslabon.graph.native.threads import cores
from eslabon.sweeps.chunks import Chunk, Task, run_chunk

AHEAD = 3  # chunks for each thread of the workers that are under way: the others wait, so that memory stays bounded
PATIENCE = "30s"  # for a scheduler to answer, and for workers to come
Pieces = Iterator[tuple[Chunk, Mapping[str, Floats]]]


class ClusterError(EslabonError, RuntimeError):
    """Chunks of a sweep that no worker of a cluster could finish."""


@contextmanager
def on_cluster(cluster: Any) -> Iterator[Callable[[Task, Pieces], Iterator[tuple[Chunk, bytes]]]]:
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
            f'cluster is "local", the address of a Dask scheduler such as "tcp://10.0.0.5:8786", or a distributed.Client; it is {shown(cluster)}.'
        )
    if cluster == "local":
        cluster = stack.enter_context(_local())
    try:
        return stack.enter_context(distributed.Client(cluster, timeout=PATIENCE, set_as_default=False))
    except (OSError, ValueError, TimeoutError) as error:
        raise InputError(f"no Dask scheduler answers at {shown(cluster)} ({error}); start one, or use cluster=\"local\".") from None  # fmt: skip


def _dask() -> Any:
    try:
        import distributed
    except ImportError:
        raise MissingDependencyError("a cluster needs Dask; install it with pip install 'eslabon[cluster]'.") from None
    return distributed


def _local() -> Any:
    """A worker for each core of this machine, each in a process of its own that takes nothing from this one: a script needs no
    guard around what it does."""
    import logging

    from distributed.deploy import subprocess

    start: Any = subprocess.SubprocessCluster
    return start(
        n_workers=cores(), threads_per_worker=1, dashboard_address=None, silence_logs=logging.ERROR,
        worker_kwargs={"dashboard_address": None},
    )  # fmt: skip


def _finished(client: Any, task: Task, pieces: Pieces) -> Iterator[tuple[Chunk, bytes]]:
    """Chunks in the order in which they are finished, with a few more under way than there are threads."""
    distributed = _dask()
    threads = sum(client.nthreads().values())
    if not threads:
        client.wait_for_workers(1, timeout=PATIENCE)
        threads = sum(client.nthreads().values())
    shipped = client.scatter(task, broadcast=True, hash=False)
    under_way, lost = distributed.as_completed(loop=client.loop), dict[int, str]()
    chunks: dict[Any, Chunk] = {}

    def submit(count: int) -> None:
        for chunk, designs in islice(pieces, count):
            future = client.submit(
                run_chunk, shipped, chunk, designs, pure=False, key=f"{task.fingerprint}-{chunk.number}"
            )
            chunks[future.key] = chunk
            under_way.add(future)

    submit(AHEAD * threads)
    for future in under_way:
        chunk = chunks.pop(future.key)
        try:
            found = future.result()
        except distributed.KilledWorker as error:
            lost[chunk.number] = str(error)
        else:
            yield chunk, found
        future.release()
        submit(1)
    if lost:
        raise ClusterError(
            f"{len(lost)} of the chunks killed the workers they ran on, such as chunk {min(lost)}: memory may be too small for it; "
            "all others are finished. Take smaller chunks (chunk=...), or workers with more memory."
        )
