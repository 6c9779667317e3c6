package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// slurmDifference are fields whose values differ from Slurm's, as docs/slurm-commands.md lists them.
type slurmDifference struct {
	by     string // what prints them
	fields string // separated by blanks
	why    string
}

// slurmDifferences are the only fields that are not compared with what a real Slurm has printed.
func slurmDifferences() []slurmDifference {
	const (
		unknown    = "not known: as Slurm prints a value that is not set"
		defaults   = "`(null)` or empty for a job that names none: each site has its own default"
		priority   = "that of `--priority`, and 0 without it"
		script     = "not known: the path of the script is not kept"
		site       = "names and numbers of sites"
		federation = "only in federations of Slurm"
		requeue    = "no, unless `--requeue` is given"
		files      = "`%j` and `%A` are replaced, and the default is shown"
		versions   = "Slurm 22.05 does not have it"
		measured   = "as measured, while the Slurm of the comparison measures nothing"
	)
	return []slurmDifference{
		{"squeue", "Account QOS", defaults},
		{"squeue", "Command", script},
		{"squeue", "Priority PriorityLong", priority},
		{"squeue", "AssocID AllocSID", unknown},
		{"squeue", "AllocNodes Cluster Origin OriginRaw", site},
		{"squeue", "Requeue", requeue},
		{"squeue", "SiblingsActive SiblingsActiveRaw SiblingsViable SiblingsViableRaw", federation},
		{"squeue", "StdOut StdErr", files},
		{"squeue", "ExcNodes", versions + " by this name"},
		{"sinfo", "Cluster NodeAddr NodeHost", site},
		{"sinfo", "CPUsLoad FreeMem AllocMem Port", unknown},
		{"sinfo", "Version", "that of Switchyard"},
		{"sacct", "Account QOS", defaults},
		{"sacct", "Cluster", site},
		{"sacct", "AssocID QOSRAW DBIndex Flags Priority SubmitLine UserCPU SystemCPU AveCPUFreq ReqCPUFreq ReqCPUFreqMin ReqCPUFreqMax ReqCPUFreqGov " +
			"ResvCPURAW WCKeyID", unknown},
		{"sacct", "TotalCPU MaxRSS AveRSS ConsumedEnergy ConsumedEnergyRaw TRESUsageInAve", measured},
		{"sacct", "AllocTRES", "without energy"},
		{"sacct", "Planned PlannedCPU PlannedCPURAW Restarts StdOut StdErr StdIn Extra FailedNode Licenses QOSREQ", versions},
		{"scontrol show job", "Account QOS", defaults},
		{"scontrol show job", "Priority", priority},
		{"scontrol show job", "CPU_IDs", unknown},
		{"scontrol show job", "Command", script},
		{"scontrol show job", "AllocNode:Sid", "the site, and no session"},
		{"scontrol show job", "Scheduler LastSchedEval", "`Switchyard`, and when the job was placed"},
		{"scontrol show job", "Requeue", requeue},
		{"scontrol show job", "FedOrigin FedViableSiblings FedActiveSiblings", federation},
		{"scontrol show node", "Arch CPULoad Port OS AllocMem FreeMem BootTime SlurmdStartTime LastBusyTime CurrentWatts AveWatts ExtSensorsWatts ExtSensorsTemp", unknown},
		{"scontrol show node", "AllocTRES", "without memory"},
		{"scontrol show node", "NodeAddr NodeHostName", site},
		{"scontrol show node", "Version", "that of Switchyard"},
		{"scontrol show partition", "DisableRootJobs", "`YES`: no job runs as root"},
		{"squeue --json", "account qos", defaults},
		{"squeue --json", "command", script},
		{"squeue --json", "association_id priority flags job_resources.allocated_nodes", unknown},
		{"squeue --json", "cluster", site},
		{"squeue --json", "federation_origin federation_siblings_active federation_siblings_viable", federation},
		{"squeue --json", "cpus_per_task", "as given with `-c`, where Slurm 22.05 prints `null`"},
		{"squeue --json", "last_sched_evaluation", "when the job was placed"},
		{"squeue --json", "requeue", requeue},
		{"squeue --json", "standard_output standard_error", files},
		{"sinfo --json", "address hostname", site},
		{"sinfo --json", "architecture alloc_memory boot_time cpu_load free_memory last_busy operating_system port slurmd_start_time", unknown},
		{"sinfo --json", "slurmd_version", "that of Switchyard"},
		{"sinfo --json", "tres_used", "without memory"},
		{"sacct --json", "account association.account qos", defaults},
		{"sacct --json", "association.cluster cluster", site},
		{"sacct --json", "flags priority", unknown},
		{"sacct --json", "array.task", "as `1-4%2`, where Slurm 22.05 prints a bitmap"},
		{"sacct --json", "exit_code steps.exit_code", "as the job has ended, where Slurm 22.05 prints `SUCCESS` unless it was a signal"},
		{"sacct --json", "time.total steps.time.total steps.tres.consumed steps.statistics.energy", measured},
	}
}

// differing are the fields that something prints otherwise than Slurm.
func differing(by string) (fields []string) {
	for _, one := range slurmDifferences() {
		if one.by == by {
			fields = append(fields, strings.Fields(one.fields)...)
		}
	}
	return fields
}

// compared is what a command line has printed, without what differs from Slurm, and what differs from run to run.
func compared(line, text string) string {
	command, _, _ := strings.Cut(line, " ")
	record := shownRecord.FindStringSubmatch(line)
	switch {
	case strings.Contains(line, "--json"):
		return comparableJSON(command+" --json", text)
	case strings.HasPrefix(line, "scontrol show config"):
		var kept []string
		for _, setting := range shownSetting.FindAllString(text, -1) {
			kept = append(kept, setting+"=")
		}
		return strings.Join(kept, "\n")
	case record != nil:
		text = withoutFields(text, append(differing("scontrol show "+record[1]), "RunTime"))
		return regexp.MustCompile(`\n\s*\n`).ReplaceAllString(text, "\n")
	}
	return text
}

// shownRecord finds of what kind the records are that a command line shows.
var shownRecord = regexp.MustCompile(`^scontrol .*show (job|node|partition)`)

// shownSetting finds the settings that scontrol show config has in Switchyard, too, of which those with a value here have the same.
var shownSetting = regexp.MustCompile(
	`(?m)^(AccountingStorageType|AcctGatherNodeFreq {6}= 0 sec|SchedulerTimeSlice {6}= 30 sec|ClusterName|JobRequeue|MailProg|MaxArraySize|SchedulerType|SlurmctldHost\[0\]|SLURM_CONF|SLURM_VERSION {12}= 22.05.8) *`)

// recordField is the beginning of a field in a record of scontrol.
var recordField = regexp.MustCompile(`(^ *|\s)[A-Za-z]\w*([/:][\w:/]+)?=`)

// withoutFields leaves fields of records of scontrol out.
func withoutFields(text string, fields []string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		at := recordField.FindAllStringIndex(line, -1)
		var kept strings.Builder
		for j, one := range at {
			end := len(line)
			if j+1 < len(at) {
				end = at[j+1][0]
			}
			if name := strings.TrimSuffix(strings.TrimSpace(line[one[0]:one[1]]), "="); !slices.Contains(fields, name) {
				kept.WriteString(line[one[0]:end])
			}
		}
		if len(at) > 0 {
			lines[i] = kept.String()
		}
	}
	return strings.Join(lines, "\n")
}

// comparableJSON has a line for each field of the jobs and nodes that both sites have, with the values of all.
func comparableJSON(by, text string) string {
	var printed struct {
		Meta        struct{ Plugin, Slurm map[string]any }
		Errors      []any
		Jobs, Nodes []map[string]any
	}
	if err := json.Unmarshal([]byte(text), &printed); err != nil {
		return text
	}
	var all []map[string]string
	names := map[string]bool{}
	for _, one := range append(printed.Jobs, printed.Nodes...) {
		if name, _ := one["name"].(string); len(printed.Jobs) > 0 && !slices.Contains([]string{"wide", "fails", "killed", "busy", "held", "waits"}, name) {
			continue
		}
		fields := map[string]string{}
		flatten("", one, fields)
		all = append(all, fields)
		for name := range fields {
			names[name] = true
		}
	}
	slices.SortFunc(all, func(x, y map[string]string) int { return strings.Compare(x["name"], y["name"]) })
	var out strings.Builder
	fmt.Fprintf(&out, "%v %v errors %v\n", printed.Meta.Plugin["type"], printed.Meta.Slurm, printed.Errors)
	unlike := differing(by)
	differ := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if i := slices.IndexFunc(unlike, func(field string) bool { return isField(name, field) }); i >= 0 {
			differ[unlike[i]] = true
			continue
		}
		var values []string
		for _, fields := range all {
			values = append(values, fields[name])
		}
		fmt.Fprintf(&out, "%s: %s\n", name, strings.Join(values, " | "))
	}
	fmt.Fprintf(&out, "with other values: %v\n", slices.Sorted(maps.Keys(differ)))
	return out.String()
}

// isField says whether a flattened name is that of a field, or of one in it.
func isField(name, field string) bool {
	plain := regexp.MustCompile(`\.\d+\b`).ReplaceAllString(name, "")
	return plain == field || strings.HasPrefix(plain, field+".")
}

// flatten puts the fields of an object, and of those in it, by their names into one map.
func flatten(prefix string, value any, into map[string]string) {
	switch v := value.(type) {
	case map[string]any:
		for name, inner := range v {
			flatten(strings.TrimPrefix(prefix+"."+name, "."), inner, into)
		}
		return
	case []any:
		if len(v) > 0 {
			if _, objects := v[0].(map[string]any); objects {
				for i, inner := range v {
					flatten(prefix+"."+strconv.Itoa(i), inner, into)
				}
				return
			}
		}
	case float64:
		const since = 1e9 // so many seconds since 1970 are a time, unless they are a job's ID
		switch {
		case strings.HasSuffix(prefix, "elapsed"):
			into[prefix] = "TIME"
		case v > since && !strings.HasSuffix(prefix, "job_id"):
			into[prefix] = "TIME"
		default:
			into[prefix] = strconv.FormatFloat(v, 'f', -1, 64)
		}
		return
	}
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // it was read from JSON
	}
	into[prefix] = string(text)
}
