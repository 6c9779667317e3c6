package workload

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Merge joins workloads into one. A job's origin is the index of its workload;
// the jobs are ordered by submission, then origin, then id.
func Merge(workloads ...[]Job) []Job {
	total := 0
	for _, jobs := range workloads {
		total += len(jobs)
	}
	merged := make([]Job, 0, total)
	for origin, jobs := range workloads {
		for _, job := range jobs {
			job.Origin = origin
			merged = append(merged, job)
		}
	}
	slices.SortStableFunc(merged, func(a, b Job) int {
		return cmp.Or(cmp.Compare(a.Submit, b.Submit), cmp.Compare(a.Origin, b.Origin), cmp.Compare(a.ID, b.ID))
	})
	return merged
}

// SplitField names the field of a record that tells its site.
type SplitField int

// The fields to split by, with the header's key for their names.
const (
	SplitPartition SplitField = iota // "Partition"
	SplitExtra                       // the 19th field, "Site"
)

// Part is what a trace has for one site.
type Part struct {
	Number int    // of the site; [Unknown] where the trace tells none
	Name   string // by the trace's header; else the number in decimal
	Trace  *Trace // with the header of the whole
}

// Split cuts a trace of a grid into one for each site, in the order of the
// sites' numbers.
func Split(t *Trace, by SplitField) []Part {
	key, field := "Partition", func(r *Record) int { return r.Partition }
	if by == SplitExtra {
		key, field = "Site", func(r *Record) int { return r.Extra }
	}
	names := t.Header.Names(key)
	index := map[int]int{}
	var parts []Part
	for i := range t.Records {
		n := field(&t.Records[i])
		at, known := index[n]
		if !known {
			at = len(parts)
			index[n] = at
			name := names[n]
			if name == "" {
				name = strconv.Itoa(n)
			}
			parts = append(parts, Part{Number: n, Name: name, Trace: &Trace{Header: t.Header, Names: t.Names}})
		}
		parts[at].Trace.Records = append(parts[at].Trace.Records, t.Records[i])
	}
	slices.SortFunc(parts, func(a, b Part) int { return cmp.Compare(a.Number, b.Number) })
	return parts
}

// Origin is where jobs of a simulation came from.
type Origin struct {
	Name  string // of the site
	Trace *Trace // nil for a model's jobs
}

// Outcome is what a simulation made of a job.
type Outcome struct {
	Job   Job
	Site  int               // index of the origin at which it ran
	Start protocol.Instant  // on the clock of Job.Submit; [Unknown]: it never started
	Run   protocol.Duration // there
}

// Scheduled makes a trace of a simulated schedule, in order of submission, with
// the waits and run times filled in and what the origins' records tell of the
// jobs besides. The note is added to the header.
//
// With one origin, its header, job numbers and submit times stay. With several,
// the jobs are numbered from 1 in order of submission, origin and id; the
// partition is the site where a job ran and the 19th field its origin, both from
// 1 with their names in the header, and the origins' acknowledgements and
// copyright notices stay.
func Scheduled(origins []Origin, outcomes []Outcome, note string) *Trace {
	ordered := slices.Clone(outcomes)
	slices.SortStableFunc(ordered, func(x, y Outcome) int {
		a, b := x.Job, y.Job
		return cmp.Or(cmp.Compare(a.Submit, b.Submit), cmp.Compare(a.Origin, b.Origin), cmp.Compare(a.ID, b.ID))
	})
	records := make([]map[int64]*Record, len(origins))
	for i, origin := range origins {
		records[i] = origin.records()
	}
	trace := &Trace{Header: scheduledHeader(origins, note), Records: make([]Record, 0, len(ordered))}
	for i, outcome := range ordered {
		var from *Record
		if at := outcome.Job.Origin; at >= 0 && at < len(records) {
			from = records[at][outcome.Job.ID]
		}
		record := outcome.record(from)
		if len(origins) > 1 {
			record.ID, record.Submit = int64(i+1), outcome.Job.Submit
			record.Partition, record.Extra = outcome.Site+1, outcome.Job.Origin+1
		}
		trace.Records = append(trace.Records, record)
	}
	return trace
}

// records finds the origin's records by their numbers, the first of each.
func (o Origin) records() map[int64]*Record {
	if o.Trace == nil {
		return nil
	}
	found := make(map[int64]*Record, len(o.Trace.Records))
	for i := range o.Trace.Records {
		r := &o.Trace.Records[i]
		if found[r.ID] == nil {
			found[r.ID] = r
		}
	}
	return found
}

// record fills in what the simulation knows. What depends on the real run (the
// CPU time and the memory used) is not known of a simulated one.
func (o Outcome) record(from *Record) Record {
	r := UnknownRecord()
	r.Submit = o.Job.Submit
	if from != nil {
		r = *from
		r.Wait, r.Run, r.CPUTime, r.Memory = Unknown, Unknown, Unknown, Unknown
	}
	r.ID, r.User, r.CPUs, r.ReqCPUs, r.ReqTime = o.Job.ID, o.Job.User, o.Job.CPUs, o.Job.CPUs, o.Job.Estimate
	r.Status = StatusCancelled
	if o.Start >= 0 {
		r.Wait, r.Run, r.Status = o.Start.Sub(o.Job.Submit), o.Run, StatusCompleted
	}
	return r
}

// credits returns the comments that name whom to acknowledge, and the notices
// that must stay in all copies, with the lines that continue them.
func (h Header) credits() []string {
	var lines []string
	keep := false
	for _, line := range h {
		key, _, isKey := headerField(line)
		switch {
		case isKey:
			keep = key == "Installation" || key == "Acknowledge" || key == "Copyright"
		case strings.TrimSpace(line) == "":
			keep = false
		}
		if keep {
			lines = append(lines, line)
		}
	}
	return lines
}

func scheduledHeader(origins []Origin, note string) Header {
	note = HeaderField("Note", note)
	if len(origins) == 1 && origins[0].Trace != nil {
		return origins[0].Trace.Header.With(note)
	}
	header := Header{}.With(HeaderField("Version", "2.2"))
	var names []string
	for _, origin := range origins {
		names = append(names, origin.Name)
		if origin.Trace == nil {
			continue
		}
		header = header.With(HeaderField("Note", "site "+origin.Name+" is a trace with the following credits"))
		header = header.With(origin.Trace.Header.credits()...)
	}
	if len(origins) > 1 {
		header = header.named("Partition", names).named("Site", names)
	}
	return header.With(note)
}
