package slurmtext

import (
	"cmp"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// JSON is the job with its batch step as sacct --json of Slurm 22.05 prints it. What Switchyard does not know of a job is as
// in a job of Slurm that has no value for it.
func (r *Record) JSON() Object {
	out := Object{
		"account": r.Account, "association": Object{"account": r.Account, "cluster": r.Cluster, "partition": nil, "user": r.User},
		"cluster": r.Cluster, "partition": r.Partitions(), "qos": r.QOS, "user": r.User, "group": r.Group,
		"job_id": r.rawID(), "name": r.Name, "array": r.elementJSON(), "het": Object{"job_id": 0, "job_offset": nil},
		"comment":     Object{"administrator": nil, "job": orNull(r.Comment), "system": nil},
		"state":       Object{"current": r.stateName(), "reason": r.reason()},
		"exit_code":   exitJSON(r.jobExit()),
		"nodes":       cmp.Or(r.nodeList(), unassigned),
		"required":    Object{"CPUs": r.CPUs, "memory": r.memory()},
		"time":        r.timesJSON(),
		"tres":        Object{"allocated": []Object{}, "requested": r.tresJSON()},
		"steps":       []Object{},
		"container":   orNull(r.Container),
		"wckey":       Object{"wckey": "", "flags": []string{}},
		"mcs":         Object{"label": ""},
		"flags":       []string{},
		"priority":    0,
		"reservation": Object{"id": 0, "name": 0},
		"constraints": r.Features, "working_directory": r.WorkDir, "derived_exit_code": exitJSON(0, 0),
		"allocation_nodes": 0, "kill_request_user": r.killer(),
	}
	if r.Started != 0 {
		allocated := r.tresJSON()
		at := slices.IndexFunc(allocated, func(one Object) bool { return one["type"] == "node" })
		allocated = slices.Insert(allocated, at, tresJSON("energy", orNull(r.Usage.Energy/1000)))
		out["tres"] = Object{"allocated": allocated, "requested": r.tresJSON()}
		out["allocation_nodes"], out["steps"] = r.nodes(), []Object{r.stepJSON()}
	}
	return out
}

// elementJSON is of which array the job is an element.
func (r *Record) elementJSON() Object {
	out := Object{"job_id": 0, "task": nil, "task_id": nil, "limits": Object{"max": Object{"running": Object{"tasks": 0}}}}
	switch {
	case r.Array != nil:
		out["job_id"], out["task"] = r.Array.ID, r.indexes()
		out["limits"] = Object{"max": Object{"running": Object{"tasks": r.Array.Throttle}}}
	case r.Element != nil:
		out["job_id"], out["task_id"] = r.Element.Array, r.Element.Index
	}
	return out
}

// timesJSON are the times of the job.
func (r *Record) timesJSON() Object {
	out := r.stepTimesJSON()
	out["submission"], out["eligible"], out["limit"] = unix(r.Submitted), unix(r.Eligible()), minutes(r.Limit())
	return out
}

func (r *Record) stepTimesJSON() Object {
	used := func(d protocol.Duration) Object {
		return Object{"seconds": seconds(d), "microseconds": int64(d % protocol.Second * 1000)}
	}
	return Object{
		"elapsed": seconds(r.Used()), "start": unix(r.Started), "end": unix(r.Ended), "suspended": 0,
		"total": used(r.Usage.CPU), "system": used(0), "user": used(0),
	}
}

// stepJSON is the batch step.
func (r *Record) stepJSON() Object {
	none := func() Object {
		return Object{"max": []Object{}, "min": []Object{}, "average": []Object{}, "total": []Object{}}
	}
	consumed := none()
	if mb := r.Usage.MemoryMB; mb > 0 {
		consumed["max"] = []Object{tresJSON("mem", mb<<20)} // in bytes
	}
	return Object{
		"step":      Object{"job_id": r.rawID(), "id": "batch", "name": "batch", "het": Object{"component": nil}},
		"state":     r.stateName(),
		"exit_code": exitJSON(r.ExitCode, r.signal()),
		"nodes":     Object{"list": []string{r.nodeList()}, "count": r.nodes(), "range": r.nodeList()},
		"tasks":     Object{"count": 1},
		"task":      Object{"distribution": unknown},
		"time":      r.stepTimesJSON(),
		"tres":      Object{"requested": none(), "consumed": consumed, "allocated": withoutBilling(r.tresJSON())},
		"statistics": Object{
			"CPU": Object{"actual_frequency": 0}, "energy": Object{"consumed": r.Usage.Energy / 1000},
		},
		"CPU": Object{"governor": []string{}, "requested_frequency": Object{"min": 0, "max": 0}},
		"pid": nil, "kill_request_user": nil,
	}
}

// tresJSON are the trackable resources of the job; memory is in MB.
func (r *Record) tresJSON() (list []Object) {
	list = append(list, tresJSON("cpu", r.CPUs))
	if mb := r.allMemory(); mb > 0 {
		list = append(list, tresJSON("mem", mb))
	}
	list = append(list, tresJSON("node", r.nodes()), tresJSON("billing", r.CPUs))
	request := r.request()
	for _, one := range r.Resources {
		if one.Name != protocol.License {
			gres := tresJSON("gres", request.InAll(one))
			gres["name"] = typed(one)
			list = append(list, gres)
		}
	}
	return list
}

// tresJSON is an amount of a resource, with the number that all databases of Slurm have for it; others have none here.
func tresJSON(name string, count any) Object {
	ids := map[string]any{"cpu": 1, "mem": 2, "energy": 3, "node": 4, "billing": 5}
	return Object{"type": name, "name": nil, "id": ids[name], "count": count}
}

// withoutBilling leaves out what only jobs have, and no steps.
func withoutBilling(list []Object) (steps []Object) {
	for _, one := range list {
		if one["type"] != "billing" {
			steps = append(steps, one)
		}
	}
	return steps
}

// exitJSON is how a job or a step has ended.
func exitJSON(code, signal int) Object {
	switch {
	case signal != 0:
		return Object{"status": "SIGNALED", "return_code": nil, "signal": Object{"signal_id": signal, "name": signalName(signal)}}
	case code != 0:
		return Object{"status": "ERROR", "return_code": code}
	}
	return Object{"status": "SUCCESS", "return_code": 0}
}

// signalNames are the texts of strsignal(3) for the signals of Linux from 1 on.
const signalNames = "Hangup,Interrupt,Quit,Illegal instruction,Trace/breakpoint trap,Aborted,Bus error,Floating point exception,Killed," +
	"User defined signal 1,Segmentation fault,User defined signal 2,Broken pipe,Alarm clock,Terminated,Stack fault,Child exited,Continued," +
	"Stopped (signal),Stopped,Stopped (tty input),Stopped (tty output),Urgent I/O condition,CPU time limit exceeded,File size limit exceeded," +
	"Virtual timer expired,Profiling timer expired,Window changed,I/O possible,Power failure,Bad system call"

// signalName is the text for a signal; nil: it has none.
func signalName(signal int) any {
	names := strings.Split(signalNames, ",")
	if signal < 1 || signal > len(names) {
		return nil
	}
	return names[signal-1]
}

// killer is who has cancelled the job; nil: it was not cancelled, or no user is known.
func (r *Record) killer() any {
	if r.State != protocol.Cancelled {
		return nil
	}
	return orNull(r.CancelledBy)
}

// orNull is a value; nil: it is not set.
func orNull[T comparable](value T) any {
	if value == *new(T) {
		return nil
	}
	return value
}
