"""Settings of sessions, their files and the warm pool."""

from __future__ import annotations

import socket
from dataclasses import dataclass

from sandbox_runtime.settings.setting import setting

MIB, GIB = 1024**2, 1024**3
_MONTH_S = 30 * 86_400


@dataclass(frozen=True, kw_only=True)
class SessionSettings:
    node_name: str = setting(
        socket.gethostname,
        "text",
        "Name of this machine among those that share a database. Sessions are found under this name after a restart.",
        "sessions",
        default_text="the host's name",
    )
    session_template: str = setting("python-basic", "template", "Template of sessions that name none.", "sessions")
    session_template_image: str = setting(
        "", "image", "Image of the template python-basic, for nodes that use images.", "sessions"
    )
    session_max: int = setting(
        2000, "sessions", "Maximum number of live sessions on this node.", "sessions", low=1, high=1_000_000
    )
    session_max_per_owner: int = setting(
        1000, "sessions", "Maximum number of live sessions of one owner.", "sessions", low=1, high=1_000_000
    )
    session_parallel: int = setting(
        1, "executions", "Executions of one session that run concurrently. Further ones are queued.", "sessions", low=1, high=64
    )
    session_queue: int = setting(
        256,
        "executions",
        "Executions of one session that may be queued. Further ones are rejected.",
        "sessions",
        low=0,
        high=100_000,
    )
    session_contexts: int = setting(
        8, "contexts", "Maximum number of live interpreters in one session.", "sessions", low=0, high=1000
    )
    session_forks: int = setting(64, "copies", "Maximum number of copies that one fork may create.", "sessions", low=1, high=1000)
    session_disk_ceiling: int = setting(
        16 * GIB, "bytes", "Maximum disk size of a session, all its files together.", "sessions", low=64 * 1024, high=1024 * GIB
    )
    session_process_ceiling: int = setting(
        1024,
        "processes",
        "Maximum number of processes that an execution of a session can request.",
        "sessions",
        low=1,
        high=100_000,
    )
    session_idle_s: float = setting(
        0.0, "seconds", "Sessions end after this time without a request. 0: never.", "sessions", low=0, high=_MONTH_S
    )
    session_lifetime_s: float = setting(
        0.0,
        "seconds",
        "Sessions end after this time. 0: never, unless a session is created with a lifetime.",
        "sessions",
        low=0,
        high=_MONTH_S,
    )
    session_creating_s: float = setting(
        300.0, "seconds", "A session that is not ready after this time has failed.", "sessions", low=1, high=3600
    )
    session_cleanup_s: float = setting(
        300.0,
        "seconds",
        "Interval at which expired sessions and old rows are deleted.",
        "sessions",
        low=1,
        high=86_400,
    )
    session_standby_s: float = setting(
        60.0,
        "seconds",
        "How long a box waits for the next execution of its session. 0: boxes do not wait.",
        "sessions",
        low=0,
        high=3600,
    )
    session_output_linger_s: float = setting(
        60.0,
        "seconds",
        "How long the complete output of a finished execution can still be streamed.",
        "sessions",
        low=0,
        high=3600,
    )
    session_file_max_bytes: int = setting(
        100 * MIB, "bytes", "Maximum size of one file or archive uploaded into a session.", "sessions", low=1, high=64 * GIB
    )
    session_retries: int = setting(
        3, "times", "How often an execution is retried if this platform fails.", "sessions", low=0, high=10
    )
    session_retry_first_s: float = setting(
        1.0, "seconds", "Delay before the first retry. Each further delay is twice as long.", "sessions", low=0, high=60
    )
    session_retry_longest_s: float = setting(10.0, "seconds", "Maximum delay between two retries.", "sessions", low=0, high=600)
    session_heartbeat_s: float = setting(
        5.0,
        "seconds",
        "Interval at which this node reports that it and its executions are alive.",
        "sessions",
        low=0.1,
        high=3600,
    )
    node_silent_s: float = setting(
        30.0, "seconds", "A node without a heartbeat for this time counts as offline.", "sessions", low=1, high=86_400
    )
    session_package_index: str = setting(
        "",
        "URL",
        "Package index of sessions that name none. Empty: the default of the package client.",
        "sessions",
    )
    warm_pool_enabled: bool = setting(True, "yes or no", "Keep environments ready for new sessions.", "sessions")
    warm_pool_size: int = setting(
        2,
        "homes",
        "Environments kept ready for ephemeral sessions, per template that sets no size.",
        "sessions",
        low=0,
        high=10_000,
    )
    warm_pool_persistent_size: int = setting(
        1,
        "homes",
        "Environments kept ready for persistent sessions, per template that sets no size.",
        "sessions",
        low=0,
        high=10_000,
    )
    warm_pool_min_size: int = setting(0, "homes", "Environments kept ready even without demand.", "sessions", low=0, high=10_000)
    warm_pool_max_idle_s: float = setting(
        300.0, "seconds", "Environments that are unused for this time are closed.", "sessions", low=1, high=86_400
    )
    warm_pool_max: int = setting(
        32, "homes", "Maximum number of environments kept ready, all templates together.", "sessions", low=0, high=10_000
    )
    warm_pool_sizes: tuple[str, ...] = setting(
        (), "template=homes", "Sizes for single templates, such as `python-basic=10`. They override warm_pool_size.", "sessions"
    )

    storage_dir: str = setting(
        "",
        "path",
        "Folder for the saved files of persistent sessions.",
        "storage",
        default_text="`files` beside the database's file",
    )
    s3_bucket: str = setting("", "name", "S3 bucket for the saved files, instead of a folder. Needs the extra `s3`.", "storage")
    s3_prefix: str = setting("", "text", "Prefix of every key, for a shared bucket.", "storage")
    s3_region: str = setting("us-east-1", "region", "Region of the bucket.", "storage")
    s3_endpoint_url: str = setting(
        "", "URL", "Endpoint of an S3-compatible server. Empty: the endpoint of the region.", "storage"
    )
    s3_public_endpoint_url: str = setting(
        "", "URL", "Public address of the same endpoint, used in presigned URLs. Empty: the same address.", "storage"
    )
    s3_access_key_id: str = setting("", "text", "Access key. Empty: the client uses the credentials of the machine.", "storage")
    s3_secret_access_key: str = setting("", "text", "Secret of s3_access_key_id.", "storage", secret=True)
