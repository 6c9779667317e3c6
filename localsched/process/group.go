package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched/cgroup"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// groupName is the variable of a shim's environment that names the parent of the group in
// which it is to run its job. Jobs do not inherit it.
const groupName = "SWITCHYARD_CGROUP"

// groupTimeout is how long the processes of a job that is over may take to die: those in
// the midst of writing to a slow disk take their time.
const groupTimeout = 30 * time.Second

// openGroups finds out whether jobs can have control groups.
func (s *Scheduler) openGroups() {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(s.config.Dir)) // never fails
	name := fmt.Sprintf("switchyard.%s.%08x", s.config.Site, sum.Sum32())
	s.groups = cgroup.Open(s.config.Cgroup, name)
	if slices.ContainsFunc(s.config.Devices, func(d Device) bool { return d.File != "" }) {
		s.groups, s.openDevices = s.groups.WithDevices(s.config.Cgroup, name)
	}
	if s.openDevices == "" && slices.ContainsFunc(s.config.Devices, func(d Device) bool { return d.File == "" }) {
		s.openDevices = "devices without files cannot be closed"
	}
	if lacks := s.Uncontained(); lacks != "" {
		s.config.Log.Warn("jobs_uncontained", "why", lacks)
	}
}

// uncontained is what is known of jobs that have run without the group that they should have had.
type uncontained struct {
	jobs int // since the start of this peer
	last string
}

// Uncontained says, for people, what of a job may get out of hand here, and why; empty
// when each job has had a control group with limits.
func (s *Scheduler) Uncontained() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.groups.Lacks
	if text != "" && s.groups.Parent == (cgroup.Group{}) {
		text = "processes that leave their session may outlive a job, and nothing limits its memory: " + text
	}
	if s.openDevices != "" {
		text = spool.Noted(text, "nothing keeps jobs from the devices of other jobs but the variables in their environment: "+s.openDevices)
	}
	if s.uncontained.jobs == 0 {
		return text
	}
	return spool.Noted(text, fmt.Sprintf("jobs that could not be contained since the start: %d, the last one %s", s.uncontained.jobs, s.uncontained.last))
}

// noteUncontained enters that a job runs, or has run, without the group that it should have.
func (s *Scheduler) noteUncontained(j *job, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if why == "" || j.uncontained != "" {
		return
	}
	j.uncontained = why
	s.uncontained.jobs++
	s.uncontained.last = j.Tag.String() + ", which " + why
	s.config.Log.Warn("job_uncontained", "job", j.Tag.String(), "why", why,
		"advice", "see docs/operations.md, The processes of a job; the job runs all the same")
}

// sweepGroups removes the groups of jobs that are over or forgotten, with what is in them.
// That of a job which seems to wait may be of a shim that a killed peer has just started.
func (s *Scheduler) sweepGroups() {
	for _, name := range s.groups.Parent.Children() {
		tag, ok := spool.ParseDirName(name)
		if j := s.jobs[tag]; ok && (j == nil || j.state == ended || j.state == withdrawn) {
			s.endGroup(name, s.groups.Parent.Child(name))
		}
	}
}

// closeGroups removes the parent of the groups, unless a shim has or makes one in it.
func (s *Scheduler) closeGroups() {
	if len(s.all(running)) == 0 && len(s.all(starting)) == 0 {
		s.groups.Parent.Release()
	}
}

// endGroup ends all that is left of a job.
func (s *Scheduler) endGroup(name string, group cgroup.Group) {
	if err := endGroup(group); err != nil {
		s.config.Log.Error("job_processes_remain", "job", name, "error", err, "advice", "see what they wait for, in /proc/PID/stack; end them")
	}
}

func endGroup(group cgroup.Group) error {
	if err := group.End(groupTimeout); err != nil {
		return err
	}
	return group.Remove()
}

// groupVariable tells a shim the parent of its job's group.
func groupVariable(parent cgroup.Group) string {
	data, err := json.Marshal(parent)
	if err != nil {
		panic(err) // it is a struct of strings
	}
	return groupName + "=" + string(data)
}

// groupFor is the group that a shim is to make for the job of a directory; none where the
// peer has none.
func groupFor(tag protocol.Tag) (group cgroup.Group, err error) {
	text := os.Getenv(groupName)
	if text == "" {
		return cgroup.Group{}, nil
	}
	if err = json.Unmarshal([]byte(text), &group); err != nil {
		return cgroup.Group{}, fmt.Errorf("read %s: %w", groupName, err)
	}
	return group.Child(spool.DirName(tag)), nil
}

// join makes the job's group and puts the second stage into it, which has not begun yet. What
// cannot be done is noted, and the job runs without it. It returns the files of devices that are closed
// to the job.
func (w *watch) join() (closed []string) {
	err := w.group.Make()
	if err != nil {
		w.group = cgroup.Group{}
		w.uncontained = fmt.Sprintf("runs without a cgroup: %v", err)
		return nil
	}
	limited := w.group.Limit(w.record.limits())
	closed, open := w.group.CloseDevices(w.where.toClose())
	switch w.group, err = w.group.Add(w.pid); {
	case err != nil && w.group == (cgroup.Group{}):
		w.uncontained = fmt.Sprintf("runs without a cgroup: %v", err)
	case err != nil || limited != nil:
		w.uncontained = fmt.Sprintf("runs without all of its limits: %v", errors.Join(limited, err, open))
	case open != nil:
		w.uncontained = fmt.Sprintf("can use devices of other jobs: %v", open)
	}
	if !w.group.ClosesDevices() {
		return nil
	}
	return closed
}

// endAll ends all processes that the job has left, has it fail if there was no memory for
// one of them, and removes their group.
func (w *watch) endAll(end *spool.End) {
	if err := w.group.End(groupTimeout); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	w.killRemaining()
	if w.group.OutOfMemory() {
		endOutOfMemory(end, w.record.limits().MemoryMB)
	}
	if err := w.group.Remove(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// endOutOfMemory says of a job that it, or a process of it, was ended for want of memory. As in Slurm such a job has
// failed, whatever its script ended with: one that ignores how its processes end would seem to have all its results. A
// job that the shim ended stays cancelled, or at its time limit.
func endOutOfMemory(end *spool.End, limitMB int64) {
	why := "out of memory: the machine has no more"
	if limitMB > 0 {
		why = fmt.Sprintf("out of memory: limit %s (--mem)", spool.SizeText(limitMB<<20))
	}
	switch end.State { //nolint:exhaustive // the other ends are the shim's
	case protocol.Completed:
		end.Reason = spool.Noted(why, "the script itself ended with exit code 0", end.Reason)
	case protocol.Failed:
		end.Reason = spool.Noted(why, end.Reason)
	default:
		end.Reason = spool.Noted(end.Reason, why)
		return
	}
	end.State, end.ExitCode, end.Signal = protocol.Failed, 0, protocol.SignalOutOfMemory
}
