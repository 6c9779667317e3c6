package slurmtext

import (
	"maps"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Object is an object of JSON.
type Object map[string]any

// set gives fields a value.
func (o Object) set(value any, names string) {
	for name := range strings.FieldsSeq(names) {
		o[name] = value
	}
}

// JSON is the job as squeue --json of Slurm 22.05 prints it. What Switchyard does not know of a job is as in a job of Slurm
// that has no value for it.
func (j *Job) JSON() Object {
	out := unsetJob()
	maps.Copy(out, j.arrayJSON())
	maps.Copy(out, j.shapeJSON())
	maps.Copy(out, Object{
		"account": j.Account, "qos": j.QOS, "partition": j.Partitions(), "cluster": j.Cluster,
		"job_id": j.rawID(), "name": j.Name, "comment": j.Comment, "container": j.Container,
		"user_id": j.UID, "user_name": j.User, "group_id": j.GID, "group_name": j.Group,
		"job_state": j.State.String(), "state_reason": j.SlurmReason(), "exit_code": j.status(), "dependency": j.dependency(),
		"requeue": j.Requeue, "restart_cnt": j.Restarts, "batch_host": j.nodeList(), "nodes": j.nodeList(),
		"submit_time": unix(j.Submitted), "eligible_time": unix(j.Eligible()), "accrue_time": unix(j.Eligible()),
		"start_time": unix(j.PlannedStart()), "end_time": unix(j.plannedEnd()), "deadline": unix(j.Conditions.Deadline),
		"last_sched_evaluation": unix(j.CommittedAt),
		"time_limit":            minutes(j.Limit()), "time_minimum": minutes(j.MinTime),
		"current_working_directory": j.WorkDir, "standard_input": "/dev/null",
		"standard_output": j.inName(j.Stdout), "standard_error": j.inName(j.Stderr), "priority": j.Conditions.Priority,
	})
	if j.Nice != 0 { // Slurm has null for 0
		out["nice"] = j.Nice
	}
	return out
}

// arrayJSON are the fields about the array that a job is of.
func (j *Job) arrayJSON() Object {
	out := Object{"array_job_id": 0, "array_task_id": nil, "array_max_tasks": 0, "array_task_string": ""}
	switch {
	case j.Array != nil:
		out["array_job_id"], out["array_task_string"], out["array_max_tasks"] = j.Array.ID, j.indexes(), j.Array.Throttle
	case j.Element != nil:
		out["array_job_id"], out["array_task_id"] = j.Element.Array, j.Element.Index
	}
	return out
}

// shapeJSON are the fields about what a job asks for, and has.
func (j *Job) shapeJSON() Object {
	out := Object{
		"cpus": j.CPUs, "node_count": j.nodes(), "tasks": j.request().Tasks(), "max_nodes": j.Layout.MaxNodes,
		"cpus_per_task": nil, "tasks_per_node": j.Layout.TasksPerNode, "minimum_cpus_per_node": j.minCPUs(),
		"memory_per_node": j.MemoryMB, "memory_per_cpu": nil, "features": j.Features, "licenses": strings.TrimPrefix(j.licenses(), Absent),
		"tres_req_str": j.tres(), "tres_alloc_str": "", "billable_tres": nil,
	}
	for name, per := range map[string]protocol.Per{"tres_per_job": protocol.PerJob, "tres_per_node": protocol.PerNode, "tres_per_task": protocol.PerTask} {
		out[name] = strings.TrimPrefix(j.asked(per), notApplicable)
	}
	if n := j.Layout.CPUsPerTask; n > 0 {
		out["cpus_per_task"] = n
	}
	if each := j.Layout.MemoryPerCPU; each > 0 {
		out["memory_per_node"], out["memory_per_cpu"] = nil, each
	}
	if j.Started != 0 {
		out["tres_alloc_str"], out["billable_tres"] = j.tres(), j.CPUs
		out["job_resources"] = Object{
			"nodes": j.nodeList(), "allocated_cpus": j.CPUs, "allocated_hosts": j.nodes(), "allocated_nodes": []Object{},
		}
	}
	return out
}

// unsetJob are the fields of a job in JSON of which Switchyard knows nothing.
func unsetJob() Object {
	out := Object{"batch_flag": true, "flags": []string{}, "gres_detail": []string{}, "show_flags": []string{"SHOW_ALL", "SHOW_DETAIL", "SHOW_LOCAL"}}
	out.set("", "admin_comment batch_features burst_buffer burst_buffer_state cluster_features command cpus_per_tres excluded_nodes "+
		"federation_origin federation_siblings_active federation_siblings_viable het_job_id_set mcs_label memory_per_tres prefer "+
		"required_nodes resv_name state_description system_comment tres_bind tres_freq tres_per_socket wckey")
	out.set(0, "association_id delay_boot derived_exit_code het_job_id het_job_offset max_cpus minimum_tmp_disk_per_node pre_sus_time "+
		"preempt_time resize_time sockets_per_board suspend_time tasks_per_board")
	out.set(nil, "core_spec cores_per_socket cpu_frequency_governor cpu_frequency_maximum cpu_frequency_minimum nice profile shared "+
		"sockets_per_node tasks_per_core tasks_per_socket thread_spec threads_per_core")
	out.set(false, "contiguous reboot")
	return out
}

// unix is an instant in seconds since 1970; 0: it is not known.
func unix(at protocol.Instant) int64 {
	if at == 0 {
		return 0
	}
	return at.Time().Unix()
}

func minutes(d protocol.Duration) int64 { return int64(d / protocol.Minute) }

// JSON is the site as sinfo --json of Slurm 22.05 prints a node. What Switchyard does not know of a site is as in a node of
// Slurm that has no value for it.
func (n *Node) JSON() Object {
	name, features, flags := string(n.Site.Site), strings.Join(n.Features, ","), []string{}
	if n.drained() {
		flags = append(flags, "DRAIN")
	}
	if n.silent() != "" {
		flags = append(flags, "NOT_RESPONDING")
	}
	out := Object{
		"name": name, "address": name, "hostname": name, "slurmd_version": n.Software, "partitions": []string{Partition},
		"state": n.base(), "state_flags": flags, "reason": n.Why(),
		"next_state_after_reboot": "invalid", "next_state_after_reboot_flags": []string{},
		"cpus": n.CPUs, "alloc_cpus": n.busy(), "idle_cpus": n.CPUs - n.busy() - n.unusable(), "real_memory": n.allMemory(),
		"sockets": n.CPUs, "features": features, "active_features": features, "gres": strings.TrimPrefix(n.gres(), Absent),
		"gres_drained": notApplicable, "tres": n.tres(), "tres_used": n.usedTRES(), "tres_weighted": n.busy(),
	}
	out.set("", "architecture burstbuffer_network_address comment extra gres_used mcs_label operating_system")
	out.set(0, "boot_time cpu_binding last_busy port reason_changed_at slurmd_start_time temporary_disk")
	out.set(1, "boards cores threads weight")
	out.set(nil, "alloc_memory cpu_load free_memory owner reason_set_by_user")
	return out
}
