"""The trivial sweep: a function of two numbers that costs nothing, so that its time is that of the tool around it.

Every contestant evaluates the function for all items of the same grid with the same number of worker processes, and
returns its values in order. Ours stores them on the disk, too. Those that take long for each item get fewer items.
"""

from __future__ import annotations

import contextlib
import logging
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.errors import MissingExtraError
from kinemorph.studies.spaces.parts import Values
from kinemorph.studies.spaces.space import Space
from kinemorph.studies.sweeps.sweep import sweep

WORKERS = 2
Sweeper = Callable[[int], Array]  # the values of all items, from their number


def product(x: float, y: float) -> float:
    """The function that is swept."""
    return x * y


def pairs(count: int) -> tuple[Array, Array]:
    """The numbers x (count,) and y (count,) of all items: a grid with ten values of y."""
    rows = max(count // 10, 1)
    x, y = np.meshgrid(np.arange(rows) / rows, np.arange(10) / 10, indexing="ij")
    return x.ravel()[:count], y.ravel()[:count]


def by_kinemorph(count: int) -> Array:
    """By `sweep`, with a store on the disk."""
    rows = max(count // 10, 1)
    space = Space({"x": Values(tuple(np.arange(rows) / rows)), "y": Values(tuple(np.arange(10) / 10))})
    with tempfile.TemporaryDirectory() as folder:
        study = sweep(product, space, store=Path(folder) / "trivial.study", workers=WORKERS)
        return study[study.measures[0]]


def by_joblib(count: int) -> Array:
    """By joblib's Parallel, which sends items to its processes in batches."""
    try:
        import joblib
    except ImportError:
        raise MissingExtraError("joblib", "peers") from None
    x, y = pairs(count)
    work = (joblib.delayed(product)(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True))
    return np.array(joblib.Parallel(n_jobs=WORKERS)(work))


@contextlib.contextmanager
def _dask_client() -> Iterator[Any]:
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise MissingExtraError("distributed", "cluster") from None
    cluster = LocalCluster(
        n_workers=WORKERS, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, silence_logs=logging.ERROR
    )
    with cluster, Client(cluster) as client:
        yield client


def by_dask(count: int) -> Array:
    """By Dask alone: a future for every item on a local cluster."""
    with _dask_client() as client:
        x, y = pairs(count)
        return np.array(client.gather(client.map(product, x.tolist(), y.tolist())))


def by_ray_tune(count: int) -> Array:
    """By Ray Tune: a trial for every item."""
    os.environ.setdefault("RAY_AIR_NEW_OUTPUT", "0")
    try:
        import ray
        from ray import tune
    except ImportError:
        raise MissingExtraError("ray", "peers") from None
    x, y = pairs(count)
    ray.init(num_cpus=WORKERS, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    try:
        with tempfile.TemporaryDirectory() as folder:
            tuner = tune.Tuner(
                lambda config: {"value": product(*config["pair"])},
                param_space={"pair": tune.grid_search(list(zip(x.tolist(), y.tolist(), strict=True)))},
                run_config=tune.RunConfig(storage_path=folder, verbose=0),
            )
            return np.array([result.metrics["value"] for result in tuner.fit()])
    finally:
        ray.shutdown()


# contestant: (function, items, items of a quick run)
SWEEPERS: dict[str, tuple[Sweeper, int, int]] = {
    "Kinemorph": (by_kinemorph, 1_000_000, 20_000),
    "joblib": (by_joblib, 200_000, 20_000),
    "Dask alone": (by_dask, 20_000, 1_000),
    "Ray Tune": (by_ray_tune, 200, 20),
}
