package slurm

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/decimal"
	"github.com/switchyard-hpc/switchyard/internal/quantity"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/localsched/usage"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// finishRun finishes a job that has run, with its usage. While the accounting may still report the
// usage, it does nothing; the next look at the queue tries again.
func (s *Scheduler) finishRun(ctx context.Context, j *job, end spool.End) {
	if j.neverBegan() {
		s.finish(j, spool.End{State: protocol.Cancelled, Reason: "it would have started later than it may, and never began"})
		return
	}
	s.closeTally(ctx, j)
	s.mu.Lock()
	id, since := j.native.ID, j.closed
	s.mu.Unlock()
	measured, complete := s.history.measured(ctx, j.name, id)
	if !complete && time.Since(since) < s.config.timeouts.account {
		return
	}
	end.Usage = s.used(j, end.Ran, measured)
	s.finish(j, end)
}

// used returns the usage of a job. Each value comes from the first source that has it: the report
// of the program; Slurm's accounting; without accounting, [Scheduler.unaccounted] for the CPU
// time; the exporter of the node.
func (s *Scheduler) used(j *job, ran protocol.Duration, measured protocol.Usage) protocol.Usage {
	report, err := usage.TakeReport(j.record.OpenUsage(j.dir))
	if err != nil {
		s.config.Log.Warn("usage_report_refused", "job", j.tag.String(), "reason", err)
	}
	if measured.CPU == 0 {
		measured.CPU = s.unaccounted(j, ran)
	}
	return usage.Prefer(usage.Prefer(report, measured), s.byNode(j, measured.CPU))
}

// unaccounted returns the CPU time of a job without accounting, given its run time; 0 if it is
// unknown. The wrapper measures the script and the children that it has waited for, but nothing
// that srun has started. The counter of a node that the job had to itself is therefore preferred.
func (s *Scheduler) unaccounted(j *job, ran protocol.Duration) protocol.Duration {
	last, err := readExit(j.dir, j.owner())
	if err != nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wholeNodes() {
		if alone := j.tally.Alone().CPU; alone > 0 {
			return max(last.cpu, alone)
		}
	}
	return seenByWrapper(last.cpu, ran, &j.record.Submission.Spec.Request)
}

// seenByWrapper is the CPU time of a job as its wrapper has seen it; 0 where that is probably
// not all: of what ran on other nodes it sees nothing, and a script that leaves nearly all
// of its CPUs' time idle has probably called srun. Taken for all, a few milliseconds would teach that the
// job computes faster than any machine can.
func seenByWrapper(cpu, ran protocol.Duration, r *protocol.Request) protocol.Duration {
	const least = 50 // part of the CPUs' time
	if r.LeastNodes() > 1 || cpu < ran/least*protocol.Duration(max(1, r.CPUs)) {
		return 0
	}
	return cpu
}

// measured is what the accounting database knows of what a job has done, and whether it
// knows all: that the job and its steps have ended.
func (h *history) measured(ctx context.Context, name string, id uint32) (u protocol.Usage, complete bool) {
	if !h.sacct {
		return protocol.Usage{}, true
	}
	out, _, err := h.commands.run(ctx, "", "sacct", "-n", "-P", "-a", "--noconvert", "-j", strconv.FormatUint(uint64(id), 10),
		"-o", "jobidraw,jobname,totalcpu,maxrss,consumedenergyraw,end")
	if err != nil && ctx.Err() == nil {
		h.log.Warn("usage_query_failed", "name", name, "error", err)
	}
	return parseUsage(out, name)
}

// parseUsage reads what sacct prints about the job of a name: a line about the job, then one
// about each of its steps. Time and energy are in the job's line for all steps together, or
// else added up; memory is that of the largest task of all. What was not gathered is empty.
// It is complete when all of them have ended.
func parseUsage(out, name string) (u protocol.Usage, complete bool) {
	const fields, open = 6, "Unknown"
	number := ""
	var whole, steps protocol.Usage
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != fields {
			continue
		}
		is := protocol.Usage{MemoryMB: parseMemory(f[3]), Energy: parseJoules(f[4])}
		if cpu, err := quantity.ParseCPUTime(f[2]); err == nil { // else it was not gathered
			is.CPU = cpu
		}
		job, _, step := strings.Cut(f[0], ".")
		switch {
		case !step && tagName(f[1]) == name:
			number, whole, steps = job, is, protocol.Usage{}
			complete = f[5] != open
		case step && job == number && number != "":
			complete = complete && f[5] != open
			steps.CPU += is.CPU
			steps.Energy += is.Energy
			steps.MemoryMB = max(steps.MemoryMB, is.MemoryMB)
		case !step:
			number = "" // of another job, which had the number before
		}
	}
	return usage.Prefer(whole, steps), complete
}

// parseMemory reads the memory of a task, in bytes or with a unit, and rounds it up to MB; 0 for
// what is no such.
func parseMemory(text string) int64 {
	form := quantity.Size{Bare: quantity.Byte, In: quantity.Mega, Max: 1 << 40, Decimals: printedDecimals, Rounding: decimal.AwayFromZero}
	mb, err := form.Parse(text)
	if err != nil {
		return 0
	}
	return mb
}

// parseJoules reads joules as millijoules; 0 for what is no such. Slurm prints a number near
// 2⁶⁴ where nothing was gathered.
func parseJoules(text string) int64 {
	const most = 1 << 50
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > most {
		return 0
	}
	return n * 1000
}

// parseShellTimes adds up the four times that the shell's times prints, of itself and of what
// it has waited for, such as "0m1.25s"; 0 for what is no such.
func parseShellTimes(words []string) (sum protocol.Duration) {
	for _, word := range words {
		minutes, rest, _ := strings.Cut(word, "m")
		seconds, ok := strings.CutSuffix(rest, "s")
		cpu, err := quantity.ParseCPUTime(minutes + ":" + strings.ReplaceAll(seconds, ",", "."))
		if !ok || err != nil {
			return 0
		}
		sum += cpu
	}
	return sum
}
