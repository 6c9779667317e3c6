package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// shape is the part of sbatch's arguments that says what a job needs, and in which
// partitions, with commas between, it may start.
func shape(r protocol.Request, partitions string, m machine) []string {
	args := []string{
		partitionOption(partitions),
		"--time=" + strconv.FormatInt(minutes(r.WallTime), 10),
	}
	if r.MinTime > 0 {
		args = append(args, "--time-min="+strconv.FormatInt(minutes(r.MinTime), 10))
	}
	switch l := r.Layout; {
	case l.MemoryPerCPU > 0:
		args = append(args, "--mem-per-cpu="+strconv.FormatInt(l.MemoryPerCPU, 10)+"M")
	case l.MemoryPerGPU > 0:
		args = append(args, "--mem-per-gpu="+strconv.FormatInt(l.MemoryPerGPU, 10)+"M")
	case r.MemoryMB > 0:
		args = append(args, "--mem="+strconv.FormatInt(r.MemoryMB, 10)+"M")
	}
	return slices.Concat(args, layout(r, m), extras(r))
}

func partitionOption(partitions string) string { return "--partition=" + partitions }

// shapeFor is [shape] with the options of the configuration, and with the job's association. That comes last, its
// partitions too, since of two options sbatch takes the later one.
func (s *Scheduler) shapeFor(r protocol.Request, partitions string, m machine, of protocol.Association) []string {
	args := slices.Concat(shape(r, partitions, m), s.config.Extra)
	if of.Partition != "" {
		args = append(args, partitionOption(partitions))
	}
	return append(args, charged(of)...)
}

// charged is the part of sbatch's arguments that says whom a job is charged to, and how it is served.
func charged(to protocol.Association) (args []string) {
	if to.Account != "" {
		args = append(args, "--account="+to.Account)
	}
	if to.QOS != "" {
		args = append(args, "--qos="+to.QOS)
	}
	return args
}

// layout asks for a job's CPUs by the options with which the job did, and no others: by them
// sbatch sets the job's environment.
func layout(r protocol.Request, m machine) (args []string) {
	l := r.Layout
	switch {
	case l.Tasks > 0:
		args = append(args, "--ntasks="+strconv.Itoa(l.Tasks))
	case !l.Divided() && r.StatesTasks():
		args = append(args, "--ntasks="+strconv.Itoa(max(1, r.CPUs)))
	}
	if l.TasksPerNode > 0 {
		args = append(args, "--ntasks-per-node="+strconv.Itoa(l.TasksPerNode))
	}
	switch {
	case l.CPUsPerGPU > 0:
		args = append(args, "--cpus-per-gpu="+strconv.Itoa(l.CPUsPerGPU))
	case l.CPUsPerTask > 0:
		args = append(args, "--cpus-per-task="+strconv.Itoa(l.CPUsPerTask))
	}
	switch {
	case l.MaxNodes > max(1, r.Nodes):
		args = append(args, fmt.Sprintf("--nodes=%d-%d", max(1, r.Nodes), l.MaxNodes))
	case r.Nodes > 0:
		args = append(args, "--nodes="+strconv.Itoa(nodesOf(r, m)))
	}
	return args
}

// signalOption asks for the signal that a job gets before its limit; nothing if it gets none.
func signalOption(s protocol.LimitSignal) []string {
	if s.Signal == 0 {
		return nil
	}
	flags := ""
	if s.OverlapReservation {
		flags = "R"
	}
	if s.ScriptOnly {
		flags += "B"
	}
	if flags != "" {
		flags += ":"
	}
	return []string{fmt.Sprintf("--signal=%s%d@%d", flags, s.Signal, s.Before/protocol.Second)}
}

// minutes is a time limit as Slurm counts, rounded up.
func minutes(d protocol.Duration) int64 {
	const most = 1<<31 - 1 // more is no limit to Slurm
	return min(most, int64((d-1)/protocol.Minute)+1)
}

// sbatch submits a job's wrapper and returns Slurm's number.
func (c *commands) sbatch(ctx context.Context, dir string, record spool.Job, name string, args []string) (uint32, error) {
	log := filepath.Join(dir, logFile)
	all := []string{
		"--parsable", "--job-name=" + jobName(record.Submission.Spec.Name, name), "--comment=" + commentOf(record, name), "--no-requeue", "--export=NONE", "--propagate=NONE",
		"--chdir=" + record.WorkDir(dir), "--open-mode=append", "--output=" + log, "--error=" + log,
	}
	if nice := record.Submission.Spec.Nice; nice > 0 {
		all = append(all, "--nice="+strconv.FormatInt(nice, 10))
	}
	all = append(all, signalOption(record.Submission.Payload.LimitSignal)...)
	if os.Geteuid() == 0 {
		all = append(all, fmt.Sprintf("--uid=%d", record.Account.UID), fmt.Sprintf("--gid=%d", record.Account.GID))
	}
	out, _, err := c.run(ctx, wrapper(dir), "sbatch", append(all, args...)...)
	if err != nil {
		return 0, err
	}
	return parseSubmitted(out)
}

// parseSubmitted reads "id" or "id;cluster".
func parseSubmitted(out string) (uint32, error) {
	digits, _, _ := strings.Cut(strings.TrimSpace(out), ";")
	id, err := strconv.ParseUint(digits, 10, 32)
	if err != nil || id == 0 {
		return 0, fmt.Errorf("sbatch answered %.100q, which is no job id", out)
	}
	return uint32(id), nil
}

// refusals are Slurm's words for what the same job can never do.
func refusals() []string {
	return []string{
		"More processors requested than permitted",
		"Requested node configuration is not available",
		"Requested time limit is invalid",
		"Node count specification invalid",
		"Invalid partition name specified",
		"invalid partition specified",
		"Memory required by task is not available",
		"Memory specification can not be satisfied",
		"Invalid feature specification",
		"Invalid generic resource (gres) specification",
		"Invalid license specification",
		"Pathname of a file, directory or other parameter too long",
		"unrecognized option",
		"Job script too large",
		"Job size specification needs to be provided",
	}
}

// personal are Slurm's words for what whoever submits may never do.
func personal() []string {
	return []string{
		"Invalid account or account/partition combination specified",
		"Job violates accounting/QOS policy",
		"Invalid qos specification",
		"User's group not permitted to use this partition",
		"Access/permission denied",
		"Invalid --uid specification",
		"Invalid --gid specification",
		"Invalid user id",
		"Invalid group id",
		"Unable to submit batch job from root",
	}
}

// refusal turns an error of sbatch into a *[localsched.RefusedError] if Slurm has
// said that it will never take the job.
func refusal(err error) (*localsched.RefusedError, bool) {
	if !says(err, refusals()) && !says(err, personal()) {
		return nil, false
	}
	failed, _ := errors.AsType[*commandError](err)
	return &localsched.RefusedError{Reason: "Slurm: " + failed.words}, true
}

// says reports whether an error is a command's answer with some of these words.
func says(err error, texts []string) bool {
	failed, ok := errors.AsType[*commandError](err)
	return ok && failed.code >= 1 &&
		slices.ContainsFunc(texts, func(words string) bool { return strings.Contains(failed.words, words) })
}

// willStart finds the time in what sbatch --test-only says.
func willStart(said string) (protocol.Instant, error) {
	pattern := regexp.MustCompile(`(?m)^sbatch: Job \d+ to start at (\S+) `)
	found := pattern.FindStringSubmatch(said)
	if found == nil {
		return 0, fmt.Errorf("sbatch --test-only said %.200q, which has no start time", said)
	}
	at, err := parseTime(found[1])
	if err == nil && at == 0 {
		err = errors.New("sbatch --test-only named no start time")
	}
	return at, err
}

// testOnly asks Slurm when a job would start. It asks as the peer's own account,
// since the account of the job is not known yet.
func (c *commands) testOnly(ctx context.Context, args []string) (protocol.Instant, error) {
	all := append([]string{"--test-only", "--job-name=switchyard-quote", "--export=NONE", "--output=/dev/null"}, args...)
	_, said, err := c.run(ctx, "#!/bin/sh\n", "sbatch", all...)
	if err != nil {
		return 0, err
	}
	return willStart(said)
}
