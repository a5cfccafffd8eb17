"""How facts leave the process: log lines and metrics.

Contract: takes plain values, returns nothing that a decision hangs on. No user code, input, output or secret is ever logged.
The only room that imports structlog and prometheus_client; no registry or logger is global, each platform has its own.
"""

from sandbox_runtime.telemetry.judge_metrics import JudgeMetrics
from sandbox_runtime.telemetry.log_file import LogFile, Rotation
from sandbox_runtime.telemetry.logs import Log, open_log, server_log_config
from sandbox_runtime.telemetry.loop_lag import measure_loop_lag
from sandbox_runtime.telemetry.metrics import Metrics
from sandbox_runtime.telemetry.session_metrics import SessionMetrics

__all__ = [
    "JudgeMetrics",
    "Log",
    "LogFile",
    "Metrics",
    "Rotation",
    "SessionMetrics",
    "measure_loop_lag",
    "open_log",
    "server_log_config",
]
