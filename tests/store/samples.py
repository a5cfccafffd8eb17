"""Nouns for tests: small ones, and ones of which no field has its default."""

from __future__ import annotations

from typing import Any

from sandbox_runtime.model import (
    ApiKey,
    Artifact,
    ArtifactKind,
    AuditEntry,
    Batch,
    BatchState,
    BoxRecord,
    BoxState,
    Dependency,
    Ending,
    Execution,
    ExecutionKind,
    ExecutionState,
    Installation,
    InstalledDependency,
    InstallState,
    Metering,
    Node,
    NodeState,
    PoolSizes,
    Resources,
    Session,
    SessionMode,
    SessionState,
    Template,
)
from sandbox_runtime.model.access import hash_key
from sandbox_runtime.model.limits import GIB, MIB
from sandbox_runtime.store import Store

NOW_MS = 1_790_000_000_123
ODD = "Grüße, 世界 🚀 'quoted' \"too\" \\ %s :name \0 nul, \ue000 escape \ue0000\ue0001\r\n"


def session(key: str = "s1", **changes: Any) -> Session:
    return Session(id=key, **{"created_ms": NOW_MS, **changes})


def execution(key: str = "e1", of: str = "s1", **changes: Any) -> Execution:
    return Execution(id=key, session=of, **{"created_ms": NOW_MS, "code": "print(1)", **changes})


def template(key: str = "t1", **changes: Any) -> Template:
    return Template(id=key, **{"name": f"name of {key}", "created_ms": NOW_MS, **changes})


def node(key: str = "n1", **changes: Any) -> Node:
    roomy = {"cpu_cores": 8.0, "memory_mb": 16384}
    return Node(id=key, **{"hostname": f"{key}.example", "created_ms": NOW_MS, **roomy, **changes})


def box(key: str = "b1", **changes: Any) -> BoxRecord:
    return BoxRecord(id=key, **{"created_ms": NOW_MS, **changes})


def artifact(key: str = "a1", of: str = "e1", **changes: Any) -> Artifact:
    return Artifact(id=key, execution=of, **{"path": "out.txt", "created_ms": NOW_MS, **changes})


def api_key(key: str = "k1", **changes: Any) -> ApiKey:
    return ApiKey(id=key, **{"owner": "ann", "digest": hash_key(key), "created_ms": NOW_MS, **changes})


def entry(subject: str = "s1", **changes: Any) -> AuditEntry:
    return AuditEntry(**{"at_ms": NOW_MS, "actor": "ann", "action": "create", "kind": "session", "subject": subject, **changes})


def full_session() -> Session:
    return session(
        "Sess-Ünicode:1@x",
        owner="ann",
        agent="agent-7",
        template="t1",
        state=SessionState.paused,
        mode=SessionMode.persistent,
        resources=Resources(cpu_cores=0.123456789, memory_bytes=300 * MIB + 1, disk_bytes=3 * GIB, processes=77),
        env={"A": "1", "B": ODD.replace("\0", "")},
        network="nat",
        about_json='{"name": "mine"}',
        timeout_s=0.5,
        idle_timeout_s=1800.0,
        lifetime_s=21600.25,
        runtime="python3.11",
        backend="namespaces",
        node="n1",
        box="box-1",
        pod="pod-1",
        executor_url="http://127.0.0.1:8080",
        workspace="/srv/workspaces/1",
        installation=Installation(
            index_url="https://packages.example/simple",
            requested=(Dependency("pandas", "==2.3.3"), Dependency("numpy")),
            installed=(InstalledDependency("pandas", "2.3.3", "/opt/x", NOW_MS, True), InstalledDependency("numpy")),
            state=InstallState.failed,
            error=ODD,
            started_ms=NOW_MS + 1,
            completed_ms=NOW_MS + 2,
        ),
        error=ODD,
        updated_ms=NOW_MS + 3,
        started_ms=NOW_MS + 4,
        completed_ms=NOW_MS + 5,
        last_activity_ms=NOW_MS + 6,
        expires_ms=NOW_MS + 7,
    )


def full_execution(of: str = "s1") -> Execution:
    return execution(
        "exec_20260101000000_0123abcd",
        of,
        kind=ExecutionKind.handler,
        state=ExecutionState.crashed,
        language="python",
        code=ODD,
        entrypoint="main.handler",
        event_json='{"a": "\\u0000"}',
        stdin=ODD,
        env={"K": "v"},
        timeout_s=0.25,
        context="ctx-1",
        idempotency_key="key 1",
        exit_code=-1,
        signal=9,
        ending=Ending.out_of_memory,
        stdout=ODD,
        stdout_dropped_bytes=2**40,
        stderr=ODD,
        stderr_dropped_bytes=5,
        return_value_json="null",
        displays_json="[]",
        error=ODD,
        metering=Metering(1.5, 2.5, 3.5, 4, None),
        retries=2,
        updated_ms=NOW_MS + 1,
        started_ms=NOW_MS + 2,
        completed_ms=NOW_MS + 3,
        heartbeat_ms=NOW_MS + 4,
    )


def full_template() -> Template:
    return template(
        "t-full",
        name="Data science",
        description=ODD,
        image="registry.example/data:1",
        base_image="debian:12",
        runtime="nodejs20",
        resources=Resources(0.5, 256 * MIB, 512 * MIB, 64),
        timeout_s=12.5,
        packages=("pandas==2.3.3", "numpy"),
        env={"A": "1"},
        security_json='{"run_as": 1000}',
        pool=PoolSizes(20, 10, 15, 300.5),
        active=False,
        updated_ms=NOW_MS + 1,
    )


def full_node() -> Node:
    return node(
        "n-full",
        hostname="worker-1.example",
        backend="docker",
        address="fe80::1",
        endpoint="http://worker-1:9000",
        state=NodeState.draining,
        cpu_cores=7.5,
        memory_mb=16383,
        allocated_cpu_cores=1.25,
        allocated_memory_mb=513,
        boxes=3,
        max_boxes=60,
        cpu_usage=0.25,
        memory_usage=0.75,
        cached_templates=("t1", "t2"),
        labels={"zone": "a"},
        failures=2,
        heartbeat_ms=NOW_MS,
        updated_ms=NOW_MS + 1,
    )


def full_box() -> BoxRecord:
    return box(
        "b-full",
        session="s1",
        template="t1",
        backend="docker",
        node="n1",
        name="sandbox-s1",
        image="registry.example/data:1",
        state=BoxState.exited,
        address="10.0.0.2",
        executor_port=8080,
        cpu_cores=0.5,
        memory_mb=512,
        disk_mb=1024,
        exit_code=137,
        exit_reason="oom_killed",
        updated_ms=NOW_MS + 1,
        started_ms=NOW_MS + 2,
        exited_ms=NOW_MS + 3,
    )


def full_artifact() -> Artifact:
    return artifact(
        "a-full",
        kind=ArtifactKind.output,
        path="output/Bild 1.png",
        location="s3://bucket/x",
        size_bytes=2**40,
        content_type="image/png",
        checksum="sha256:00",
    )


def full_key() -> ApiKey:
    return api_key(
        "k-full",
        name="laptop",
        scopes=("sessions:write", "files"),
        updated_ms=NOW_MS + 1,
        expires_ms=NOW_MS + 2,
        last_used_ms=NOW_MS + 3,
        revoked_ms=NOW_MS + 4,
    )


def batch(name: str = "batch-1", **changes: Any) -> Batch:
    return Batch(id=name, **{"owner": "ann", "dataset": "mbpp", "created_ms": NOW_MS, **changes})


def full_batch() -> Batch:
    return batch(
        "batch-full",
        state=BatchState.cancelled,
        config_json='{"extra": {}}',
        key="run-7",
        total=5,
        judged=4,
        accepted=2,
        not_judged=1,
        reasons={"accepted": 2, "wrong_answer": 1, "not_judged": 1},
        input_bytes=2**40,
        message=ODD,
        updated_ms=NOW_MS + 1,
        started_ms=NOW_MS + 2,
        ended_ms=NOW_MS + 3,
    )


async def lay_ground(store: Store) -> None:
    """What the full nouns refer to."""
    await store.templates.add(template())
    await store.nodes.add(node())
    await store.sessions.add(session())
    await store.executions.add(execution())
