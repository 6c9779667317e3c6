package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/internal/slurmtext"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// slurmKey is a key of scontrol update with the option that it stands for.
type slurmKey struct {
	name   string
	least  int // letters that are enough of it, whatever case they have
	option string
}

func slurmKeys() []slurmKey {
	return []slurmKey{
		{"JobId", 3, "job"},
		{"TimeLimit", 5, "time"},
		{"TimeMin", 5, "time-min"},
		{"JobName", 4, "job-name"},
		{"Name", 2, "job-name"},
		{"Comment", 3, "comment"},
		{"Nice", 2, "nice"},
		{"Priority", 2, "priority"},
		{"StartTime", 2, "begin"},
		{"EligibleTime", 2, "begin"},
		{"Deadline", 3, "deadline"},
		{"Dependency", 3, "dependency"},
		{"Account", 1, "account"},
		{"Partition", 2, "partition"},
		{"QOS", 2, "qos"},
		{"ArrayTaskThrottle", 10, "throttle"},
	}
}

// slurmUpdate is what an update of scontrol asks for.
type slurmUpdate struct {
	jobs     string
	settings []batchscript.Setting
	limit    int               // 1: the time limit is raised by more, -1: it is lowered, 0: it is set
	more     protocol.Duration // by which it is
	hold     bool              // by the priority 0
}

// update changes jobs.
func (c *slurmCall) update(ctx context.Context, args []string) error {
	u, err := c.readUpdate(args)
	if err != nil {
		return err
	}
	var names []protocol.JobName
	for _, text := range slurmtext.SplitList(u.jobs) {
		some, failed := c.jobNames(text)
		if failed != nil {
			return saying("slurm_update error: Invalid job id specified")
		}
		names = append(names, some...)
	}
	if len(names) == 0 {
		return saying("No job ID specified")
	}
	change, err := batchscript.ReadChange(u.settings, c.now())
	if err != nil {
		return saying("scontrol: error: " + err.Error())
	}
	failed := false
	err = eachJob(names, func(name protocol.JobName) error { return c.updateJob(ctx, name, change, &u) }, func(name protocol.JobName, why view.Refusal) {
		failed = true
		c.notUpdated(name, len(names) > 1, why)
	})
	if err == nil && failed {
		err = &slurmError{code: exitFailed}
	}
	return err
}

// updateJob changes a job, and then holds it if it is to have the priority 0.
func (c *slurmCall) updateJob(ctx context.Context, name protocol.JobName, change protocol.Change, u *slurmUpdate) error {
	if u.limit != 0 {
		job, err := c.client().Job(ctx, name)
		if err != nil {
			return err
		}
		change.WallTime = new(max(0, job.WallTime+protocol.Duration(u.limit)*u.more))
	}
	if !change.None() {
		if err := c.client().Update(ctx, name, change); err != nil {
			return err
		}
	}
	if u.hold {
		return c.client().Hold(ctx, name)
	}
	return nil
}

// readUpdate reads what is to be changed, written key=value.
func (*slurmCall) readUpdate(args []string) (u slurmUpdate, err error) {
	for _, arg := range args {
		if err = u.read(arg); err != nil {
			return u, err
		}
	}
	switch {
	case u.jobs == "":
		return u, saying("No job ID specified")
	case len(u.settings) == 0 && u.limit == 0 && !u.hold:
		return u, saying("No changes specified")
	}
	return u, nil
}

// read reads one key with its value.
func (u *slurmUpdate) read(arg string) (err error) {
	key, value, _ := strings.Cut(arg, "=")
	sign := key[len(strings.TrimRight(key, "+-")):]
	key = strings.TrimSuffix(key, sign)
	keys := slurmKeys()
	i := slices.IndexFunc(keys, func(k slurmKey) bool {
		return len(key) >= k.least && len(key) <= len(k.name) && strings.EqualFold(k.name[:len(key)], key)
	})
	if i < 0 || sign != "" && (keys[i].option != "time" || len(sign) > 1) {
		return saying("Update of this parameter is not supported: "+arg, "Request aborted")
	}
	switch option := keys[i].option; {
	case option == "job":
		u.jobs = value
	case option == "priority" && value == "0":
		u.hold = true
	case sign != "":
		if u.more, err = batchscript.ParseTime(value); err != nil {
			return saying("scontrol: error: " + err.Error())
		}
		if u.limit = 1; sign == "-" {
			u.limit = -1
		}
	default:
		u.settings = append(u.settings, batchscript.Setting{Long: option, Value: value})
	}
	return nil
}

// notUpdated says why a job was not changed, as scontrol does of one, and of several.
func (c *slurmCall) notUpdated(job protocol.JobName, several bool, why view.Refusal) {
	text := why.Reason
	switch why.Code { //nolint:exhaustive // the others have reasons of their own
	case view.NotFound:
		if text = "Invalid job id specified"; strings.HasPrefix(why.Reason, view.OfDependency) {
			text = "Job dependency problem: " + why.Reason
		}
	case view.Denied:
		text = "Access/permission denied"
	case view.NoSite:
		texts := []string{text}
		for _, one := range why.Sites {
			texts = append(texts, fmt.Sprintf("%s: %s", one.Site, one.Reason))
		}
		text = strings.Join(texts, "; ")
	}
	if several {
		c.problem("%s: %s", job, text)
	}
	c.problem("slurm_update error: %s", text)
}
