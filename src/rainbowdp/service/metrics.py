"""Numbers for Prometheus: requests and budgets, never data."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest, multiprocess
from prometheus_client.core import GaugeMetricFamily

from rainbowdp.errors import RainbowError
from rainbowdp.service.datasets import Dataset

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_METHODS = ("GET", "POST", "DELETE", "HEAD", "PUT", "PATCH", "OPTIONS")


class _Budgets:
    """What is left in each ledger, read when somebody asks for it."""

    def __init__(self, datasets: Iterable[Dataset]) -> None:
        self._datasets = list(datasets)

    def collect(self) -> Iterator[Any]:
        """The gauges."""
        labels = ["dataset", "amount"]
        total = GaugeMetricFamily("rainbow_budget_total", "The budget.", labels=labels)
        left = GaugeMetricFamily("rainbow_budget_left", "What may still be spent.", labels=labels)
        for dataset in self._datasets:
            try:
                balance = dataset.ledger.balance()
            except RainbowError:
                continue
            for family, cost in ((total, balance.total), (left, balance.left)):
                for name, part in zip(cost.names(), cost.parts, strict=True):
                    family.add_metric([dataset.name, name], float(part))
        yield total
        yield left


class Metrics:
    """The numbers of one process."""

    def __init__(self, datasets: Iterable[Dataset]) -> None:
        self.registry = CollectorRegistry()
        self._budgets = _Budgets(datasets)
        self._requests = Counter(
            "rainbow_requests",
            "Requests by route and status.",
            ["method", "route", "status"],
            registry=self.registry,
        )
        self._seconds = Histogram(
            "rainbow_request_seconds",
            "How long requests took.",
            ["route"],
            registry=self.registry,
        )

    def seen(self, method: str, route: str | None, status: int, seconds: float) -> None:
        """Count one request; addresses that are none of ours are one."""
        known = method if method in _METHODS else "other"
        path = route or "none"
        self._requests.labels(known, path, str(status)).inc()
        self._seconds.labels(path).observe(seconds)

    def text(self) -> bytes:
        """All of them, as Prometheus reads them; of several processes together."""
        found = self.registry
        if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
            found = CollectorRegistry()
            multiprocess.MultiProcessCollector(found)  # type: ignore[no-untyped-call]
        budgets = CollectorRegistry()
        budgets.register(self._budgets)
        return generate_latest(found) + generate_latest(budgets)
