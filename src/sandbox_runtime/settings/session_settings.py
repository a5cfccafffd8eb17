"""The knobs of sessions, their files and what stands ready for them."""

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
        "Name of this machine among those that share a database; sessions are found again under it after a restart.",
        "sessions",
        default_text="the host's name",
    )
    session_template: str = setting("python-basic", "template", "Template of sessions that name none.", "sessions")
    session_template_image: str = setting(
        "", "image", "Image of the template python-basic, for nodes that use images.", "sessions"
    )
    session_max: int = setting(2000, "sessions", "Sessions that have not ended, on this node.", "sessions", low=1, high=1_000_000)
    session_max_per_owner: int = setting(1000, "sessions", "The same, for one owner.", "sessions", low=1, high=1_000_000)
    session_parallel: int = setting(
        1, "executions", "Executions of one session that run at once; more wait in line.", "sessions", low=1, high=64
    )
    session_queue: int = setting(
        256, "executions", "Executions of one session that may wait; more are refused.", "sessions", low=0, high=100_000
    )
    session_contexts: int = setting(8, "contexts", "Live interpreters of one session.", "sessions", low=0, high=1000)
    session_forks: int = setting(64, "copies", "Copies that one fork may make.", "sessions", low=1, high=1000)
    session_disk_ceiling: int = setting(
        16 * GIB, "bytes", "Largest disk of a session, all its files together.", "sessions", low=64 * 1024, high=1024 * GIB
    )
    session_process_ceiling: int = setting(
        1024, "processes", "Most processes that an execution of a session can ask for.", "sessions", low=1, high=100_000
    )
    session_idle_s: float = setting(
        0.0, "seconds", "Sessions of which nothing was asked for so long end; 0: they do not.", "sessions", low=0, high=_MONTH_S
    )
    session_lifetime_s: float = setting(
        0.0,
        "seconds",
        "Sessions end after this time; 0: they do not, unless they are made with one.",
        "sessions",
        low=0,
        high=_MONTH_S,
    )
    session_creating_s: float = setting(
        300.0, "seconds", "A session that is not ready by then has failed.", "sessions", low=1, high=3600
    )
    session_cleanup_s: float = setting(
        300.0,
        "seconds",
        "Time between two looks for sessions that are over and rows that are old.",
        "sessions",
        low=1,
        high=86_400,
    )
    session_standby_s: float = setting(
        60.0, "seconds", "How long a box waits for the next execution of a session; 0: none does.", "sessions", low=0, high=3600
    )
    session_output_linger_s: float = setting(
        60.0,
        "seconds",
        "How long all output of an execution that ended can be followed byte by byte.",
        "sessions",
        low=0,
        high=3600,
    )
    session_file_max_bytes: int = setting(
        100 * MIB, "bytes", "Largest file or archive in one upload into a session.", "sessions", low=1, high=64 * GIB
    )
    session_retries: int = setting(
        3, "times", "How often an execution that failed through our own fault is tried again.", "sessions", low=0, high=10
    )
    session_retry_first_s: float = setting(
        1.0, "seconds", "Wait before the first of these; each further one waits twice as long.", "sessions", low=0, high=60
    )
    session_retry_longest_s: float = setting(10.0, "seconds", "Longest wait between two.", "sessions", low=0, high=600)
    session_heartbeat_s: float = setting(
        5.0, "seconds", "How often this node says that it and what runs on it are alive.", "sessions", low=0.1, high=3600
    )
    node_silent_s: float = setting(
        30.0, "seconds", "A node that was not heard of for so long is taken for offline.", "sessions", low=1, high=86_400
    )
    session_package_index: str = setting(
        "",
        "URL",
        "Where packages of sessions come from, unless a session says otherwise. Empty: as the package client is configured.",
        "sessions",
    )
    warm_pool_enabled: bool = setting(True, "yes or no", "Keep homes of sessions ready.", "sessions")
    warm_pool_size: int = setting(
        2,
        "homes",
        "Homes kept ready of a template that says nothing of its own, for ephemeral sessions.",
        "sessions",
        low=0,
        high=10_000,
    )
    warm_pool_persistent_size: int = setting(1, "homes", "The same, for persistent sessions.", "sessions", low=0, high=10_000)
    warm_pool_min_size: int = setting(0, "homes", "Homes kept ready even when nobody asks.", "sessions", low=0, high=10_000)
    warm_pool_max_idle_s: float = setting(
        300.0, "seconds", "Homes that nobody asked for in this time are given up.", "sessions", low=1, high=86_400
    )
    warm_pool_max: int = setting(
        32, "homes", "Homes kept ready at the most, all templates together.", "sessions", low=0, high=10_000
    )
    warm_pool_sizes: tuple[str, ...] = setting(
        (), "template=homes", "Sizes for single templates, such as `python-basic=10`, in place of warm_pool_size.", "sessions"
    )

    storage_dir: str = setting(
        "",
        "path",
        "Folder for what is kept of persistent sessions.",
        "storage",
        default_text="`files` beside the database's file",
    )
    s3_bucket: str = setting("", "name", "Bucket for the same, instead of a folder; needs the extra s3.", "storage")
    s3_prefix: str = setting("", "text", "In front of every key, for a bucket that is shared.", "storage")
    s3_region: str = setting("us-east-1", "region", "Region of the bucket.", "storage")
    s3_endpoint_url: str = setting("", "URL", "Of servers that speak S3; empty: that of the region.", "storage")
    s3_public_endpoint_url: str = setting(
        "", "URL", "The same endpoint as others reach it, for presigned addresses; empty: the same.", "storage"
    )
    s3_access_key_id: str = setting("", "text", "Empty: the client looks where the machine keeps credentials.", "storage")
    s3_secret_access_key: str = setting("", "text", "Belongs to s3_access_key_id.", "storage", secret=True)
