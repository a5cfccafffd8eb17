"""Metrics: one registry for each platform."""

from __future__ import annotations

from sandbox_runtime.telemetry import Metrics


def test_two_platforms_count_apart() -> None:
    one, other = Metrics(), Metrics()
    one.record_rejection("queue_full")
    assert 'sandbox_rejections_total{reason="queue_full"} 1.0' in one.exposition().decode()
    assert "queue_full" not in other.exposition().decode()


def test_a_watched_value_is_read_when_asked_for() -> None:
    metrics, idle = Metrics(), [1]
    metrics.add_gauge("sandbox_pool_idle", "Boxes that wait ready", lambda: idle[0])
    idle[0] = 7
    assert "sandbox_pool_idle 7.0" in metrics.exposition().decode()


def test_commands_are_counted_with_their_wall_time() -> None:
    metrics = Metrics()
    metrics.record_command("python", "run", "exited", "program", 0.02)
    text = metrics.exposition().decode()
    assert 'sandbox_runs_total{blame="program",ending="exited",language="python",step="run"} 1.0' in text
    assert 'sandbox_run_wall_seconds_bucket{language="python",le="0.025",step="run"} 1.0' in text
