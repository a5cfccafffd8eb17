"""The tables have the names and columns that other tools of the control plane read."""

from __future__ import annotations

import pytest

from sandbox_runtime.store.tables import METADATA

AUDIT = "f_created_at f_created_by f_updated_at f_updated_by f_deleted_at f_deleted_by"
TABLES = {
    "t_sandbox_template": """
        f_id f_name f_description f_image_url f_base_image f_runtime_type f_default_cpu_cores
        f_default_memory_mb f_default_disk_mb f_default_timeout_sec f_pre_installed_packages
        f_default_env_vars f_security_context f_is_active""",
    "t_sandbox_runtime_node": """
        f_node_id f_hostname f_runtime_type f_ip_address f_api_endpoint f_status f_total_cpu_cores
        f_total_memory_mb f_allocated_cpu_cores f_allocated_memory_mb f_running_containers f_max_containers
        f_cached_images f_labels f_last_heartbeat_at""",
    "t_sandbox_session": """
        f_id f_template_id f_status f_runtime_type f_runtime_node f_container_id f_pod_name f_workspace_path
        f_resources_cpu f_resources_memory f_resources_disk f_env_vars f_timeout f_last_activity_at
        f_completed_at f_python_package_index_url f_requested_dependencies f_installed_dependencies
        f_dependency_install_status f_dependency_install_error f_dependency_install_started_at
        f_dependency_install_completed_at""",
    "t_sandbox_execution": """
        f_id f_session_id f_status f_code f_language f_entrypoint f_event_data f_timeout_sec f_return_value
        f_stdout f_stderr f_exit_code f_metrics f_error_message f_started_at f_completed_at""",
}


@pytest.mark.requirement("control_plane-7.01")
@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_every_column_of_the_protocol(name: str) -> None:
    missing = set(f"{TABLES[name]} {AUDIT}".split()) - set(METADATA.tables[name].columns.keys())
    assert not missing
