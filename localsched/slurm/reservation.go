package slurm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// reservation is one of Slurm's.
type reservation struct {
	name       string
	start, end protocol.Instant  // whole seconds
	again      protocol.Duration // from one start to the next; 0: it comes once
	nodes      []string
	coreCount  int            // of all of them
	cores      map[string]int // of each node, where Slurm reports it
	maint      bool           // for maintenance
}

// Slurm's words about reservations.
const (
	busyThen      = "Requested nodes are busy"
	noReservation = "Requested reservation is invalid"
)

// reserve has Slurm keep room from exactly one instant until another, for an account. As Slurm 22.05 does, it refuses
// nodes that are in maintenance then; Slurm 24.11 gives them.
func (c *commands) reserve(ctx context.Context, r reservation, account string, room []string) error {
	args := append([]string{
		"create", "reservation", "ReservationName=" + r.name, "StartTime=" + stamp(r.start), "EndTime=" + stamp(r.end), "Users=" + account,
	}, room...)
	if _, _, err := c.run(ctx, "", "scontrol", args...); err != nil {
		return err
	}
	err := c.outsideMaintenance(ctx, r.name)
	if err != nil {
		err = errors.Join(err, c.unreserve(ctx, r.name))
	}
	return err
}

// outsideMaintenance returns an error in Slurm's words if a reservation has nodes that are in maintenance then.
func (c *commands) outsideMaintenance(ctx context.Context, name string) error {
	all, err := c.reservations(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(r reservation) bool { return r.name == name })
	for _, r := range all {
		if i >= 0 && r.maint && r.meets(&all[i]) {
			return &commandError{command: "scontrol", code: 1, words: busyThen + " with maintenance, in reservation " + r.name}
		}
	}
	return nil
}

// meets reports whether it has a node at an instant at which another one has that node, which comes once.
func (r *reservation) meets(once *reservation) bool {
	if !slices.ContainsFunc(r.nodes, func(node string) bool { return slices.Contains(once.nodes, node) }) {
		return false
	}
	for start, end := r.start, r.end; start < once.end; start, end = start.Add(r.again), end.Add(r.again) {
		if end > once.start {
			return true
		}
		if r.again == 0 {
			return false
		}
	}
	return false
}

// unreserve deletes a reservation. That there is none is no error.
func (c *commands) unreserve(ctx context.Context, name string) error {
	_, _, err := c.run(ctx, "", "scontrol", "delete", "ReservationName="+name)
	if says(err, []string{noReservation}) {
		return nil
	}
	return err
}

// reservations are all of them.
func (c *commands) reservations(ctx context.Context) ([]reservation, error) {
	out, _, err := c.run(ctx, "", "scontrol", "show", "reservation", "-o")
	if err != nil {
		return nil, err
	}
	return parseReservations(out)
}

// waiter is a job of Slurm's that waits.
type waiter struct {
	id   string
	held bool // by Slurm, since it has deleted its reservation
}

// waitingIn are the jobs of a hold's name, or of another one, that wait in its reservation, be it
// there or not.
func (c *commands) waitingIn(ctx context.Context, name, called string) (waiting []waiter, err error) {
	out, _, err := c.run(ctx, "", "squeue", "-h", "-a", "-t", "PENDING,RESV_DEL_HOLD", "-n", name+","+called, "-o", "%A|%T|%v")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 3 {
			return nil, fmt.Errorf("squeue: %.200q has %d fields, not 3", line, len(f))
		}
		if held := f[1] == "RESV_DEL_HOLD"; held || f[2] == name {
			waiting = append(waiting, waiter{id: f[0], held: held})
		}
	}
	return waiting, nil
}

// leave takes a job out of its reservation, to start at an instant at the earliest.
func (c *commands) leave(ctx context.Context, one waiter, start protocol.Instant) error {
	args := []string{"update", "JobId=" + one.id, "ReservationName="}
	if start > protocol.InstantOf(time.Now()) {
		args = append(args, "StartTime="+stamp(wholeSecond(start)))
	}
	_, _, err := c.run(ctx, "", "scontrol", args...)
	if err == nil && one.held {
		_, _, err = c.run(ctx, "", "scontrol", "release", one.id)
	}
	return err
}

// parseReservations reads what scontrol show reservation -o prints.
func parseReservations(out string) (all []reservation, err error) {
	number := 0
	for line := range strings.Lines(out) {
		number++
		words := parseWords(line)
		if words["ReservationName"] == "" {
			continue // it says that there are none
		}
		r, err := parseReservation(line, words)
		if err != nil {
			return nil, fmt.Errorf("scontrol show reservation, line %d: %w", number, err)
		}
		all = append(all, r)
	}
	return all, nil
}

func parseReservation(line string, words map[string]string) (r reservation, err error) {
	r.name = words["ReservationName"]
	if r.start, err = parseTime(words["StartTime"]); err == nil {
		r.end, err = parseTime(words["EndTime"])
	}
	if err != nil {
		return reservation{}, err
	}
	if list := words["Nodes"]; hasNodes(list) {
		if r.nodes, err = expandHosts(list); err != nil {
			return reservation{}, err
		}
	}
	if count := words["CoreCnt"]; count != "" {
		if r.coreCount, err = parseCount(count, 1<<31); err != nil {
			return reservation{}, fmt.Errorf("CoreCnt: %w", err)
		}
	}
	r.again = again(words["Flags"])
	r.maint = slices.Contains(strings.Split(words["Flags"], ","), "MAINT")
	r.cores, err = parseCores(line)
	return r, err
}

// again is how often a reservation with such flags comes. Those for the days of the
// week or for its end are taken for daily ones.
func again(flags string) protocol.Duration {
	for flag := range strings.SplitSeq(flags, ",") {
		switch flag {
		case "HOURLY":
			return protocol.Hour
		case "DAILY", "WEEKDAY", "WEEKEND":
			return protocol.Day
		case "WEEKLY":
			return 7 * protocol.Day
		}
	}
	return 0
}

// parseCores reads how many cores of each node a reservation has: words NodeName=a1
// CoreIDs=0-3, for each. Slurm does not always report them.
func parseCores(line string) (cores map[string]int, err error) {
	name := ""
	for word := range strings.FieldsSeq(line) {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "NodeName":
			name = value
		case "CoreIDs":
			if !hasNodes(value) {
				continue
			}
			ids, err := expandHosts("[" + value + "]")
			if err != nil {
				return nil, err
			}
			if cores == nil {
				cores = map[string]int{}
			}
			cores[name] = len(ids)
		}
	}
	return cores, nil
}

// stamp is an instant as the commands read it under TZ=UTC, in whole seconds.
func stamp(t protocol.Instant) string { return t.Time().Format("2006-01-02T15:04:05") }

// wholeSecond is the first whole second that is not before an instant.
func wholeSecond(t protocol.Instant) protocol.Instant {
	const second = protocol.Instant(protocol.Second)
	return (t + second - 1) / second * second
}

// reservationArgs is what a reservation keeps of a partition for a job: whole nodes where jobs have nodes
// to themselves, and cores elsewhere. Slurm lets the two kinds overlap, so that a partition
// must have one.
func (s *Scheduler) reservationArgs(ctx context.Context, r protocol.Request, p *partition, m machine) ([]string, error) {
	args := []string{"PartitionName=" + p.name}
	nodes := nodesOf(r, m)
	if p.wholeNode || s.linear {
		return append(args, "NodeCnt="+strconv.Itoa(max(1, nodes, r.NodesOf(m.nodeCPUs)))), nil
	}
	threads, err := s.commands.threads(ctx, p.name)
	if err != nil {
		return nil, err
	}
	if nodes > 0 {
		args = append(args, "NodeCnt="+strconv.Itoa(nodes))
	}
	return append(args, "CoreCnt="+strconv.Itoa(max(1, nodes, ceil(r.CPUs, threads)))), nil
}

func ceil(a, b int) int { return (max(0, a) + max(1, b) - 1) / max(1, b) }

// threads is how many CPUs a core of a partition has, the fewest.
func (c *commands) threads(ctx context.Context, partition string) (int, error) {
	out, _, err := c.run(ctx, "", "sinfo", "-h", "-o", "%Z", "-p", partition)
	if err != nil {
		return 0, err
	}
	var found []int
	for word := range strings.FieldsSeq(out) {
		n, err := parseCount(strings.TrimSuffix(word, "+"), 1<<16)
		if err != nil {
			return 0, fmt.Errorf("sinfo: threads of a core: %w", err)
		}
		found = append(found, n)
	}
	if len(found) == 0 {
		return 1, nil
	}
	return max(1, slices.Min(found)), nil
}
