package slurm

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// ending is how a job ended, in Slurm's words.
type ending struct {
	entry
	code   int
	signal int
	local  bool // its times are of the controller's time zone, which is not known
}

// parseEnding reads a line of the log. Lines about jobs that do not have the name
// of one of a peer's are passed over: their names may hold anything.
func parseEnding(line string) (e ending, ok bool) {
	words := strings.Fields(line)
	const known = 5 // JobId UserId GroupId Name JobState, in this order
	if len(words) < known {
		return ending{}, false
	}
	var head [known]string
	for i, key := range []string{"JobId", "UserId", "GroupId", "Name", "JobState"} {
		if head[i], ok = strings.CutPrefix(words[i], key+"="); !ok {
			return ending{}, false
		}
	}
	if head[3] = tagName(head[3]); !strings.HasPrefix(head[3], "sy.") {
		return ending{}, false
	}
	rest := parseWords(strings.Join(words[known:], " "))
	e, err := endingOf(head[0], uidIn(head[1]), head[3], head[4], rest["SubmitTime"], rest["StartTime"], rest["EndTime"], rest["ExitCode"])
	e.placed, e.local = hasNodes(rest["NodeList"]), true
	return e, err == nil
}

// uidIn finds the number in "name(uid)".
func uidIn(text string) string {
	_, uid, _ := strings.Cut(text, "(")
	return strings.TrimSuffix(uid, ")")
}

func endingOf(id, uid, name, state, submit, start, end, code string) (e ending, err error) {
	number, err := strconv.ParseUint(id, 10, 32)
	if err != nil {
		return ending{}, fmt.Errorf("job id %q is not a number", id)
	}
	owner, err := strconv.ParseUint(uid, 10, 32)
	if err != nil {
		return ending{}, fmt.Errorf("uid %q is not a number", uid)
	}
	state, _, _ = strings.Cut(state, " ") // "CANCELLED by 0"
	e.entry = entry{native: native{ID: uint32(number)}, uid: uint32(owner), name: name, state: state}
	if finalState(state) == 0 {
		return ending{}, fmt.Errorf("state %q is not a last one", state)
	}
	if e.Submitted, err = parseTime(submit); err == nil {
		e.start, err = parseTime(start)
	}
	if err == nil {
		e.end, err = parseTime(end)
	}
	if err == nil {
		e.code, e.signal, err = parseExit(code)
	}
	return e, err
}

// matches compares number, name, owner and, where it is known, submit time.
func (e *ending) matches(j *job, is native) bool {
	return e.name == j.name && e.uid == j.record.Account.UID && e.is(is)
}

// is compares number and, where it is known, submit time.
func (e *ending) is(one native) bool {
	if e.ID != one.ID {
		return false
	}
	ahead := e.Submitted.Sub(one.Submitted)
	return one.Submitted == 0 || ahead == 0 || e.local && ahead == zoneOf(ahead)
}

// zoneOf is the offset of a time zone nearest to a difference of two clocks: those are quarters
// of an hour, up to 14 hours.
func zoneOf(d protocol.Duration) protocol.Duration {
	const quarter, most = 15 * protocol.Minute, 14 * protocol.Hour
	half := quarter / 2
	if d < 0 {
		half = -half
	}
	return min(max((d+half)/quarter*quarter, -most), most)
}

// inUTC returns the ending of a job with its times in UTC. The log of jobcomp/filetxt has them in
// the controller's local time without the time zone; the zone follows from the known time of the
// job's submission. If the zone's offset changed while the job was in Slurm, its end
// keeps the old one.
func (e *ending) inUTC(j *job, is native) ending {
	out := *e
	if !e.local {
		return out
	}
	submitted := is.Submitted
	if submitted == 0 {
		submitted = j.submitted
	}
	zone := zoneOf(e.Submitted.Sub(submitted))
	for _, at := range []*protocol.Instant{&out.Submitted, &out.start, &out.end} {
		if *at != 0 {
			*at = at.Add(-zone)
		}
	}
	out.local = false
	return out
}

// parseStatus reads the exit code in what scontrol show job -o prints, zeros if
// that is about a job of another name.
func parseStatus(out, name string) (code, signal int) {
	words := parseWords(out)
	if tagName(words["JobName"]) != name {
		return 0, 0
	}
	code, signal, err := parseExit(words["ExitCode"])
	if err != nil {
		return 0, 0
	}
	return code, signal
}

// accounted asks the accounting database for the ended jobs that had a number and
// a name. By name alone it does not show jobs that were cancelled while held.
func (c *commands) accounted(ctx context.Context, id uint32, name string) ([]ending, error) {
	out, _, err := c.run(ctx, "", "sacct", "-n", "-P", "-X", "-D", "-a", "-j", strconv.FormatUint(uint64(id), 10),
		"-o", "jobidraw,uid,jobname,state,submit,start,end,exitcode,nodelist")
	return parseAccounted(out, name), err
}

// unsentToDatabase is how many messages for slurmdbd the controller has, which it keeps while that does not
// take them; 0 if sdiag is not installed.
func (c *commands) unsentToDatabase(ctx context.Context) (int, error) {
	if missing := c.check("sdiag"); missing != nil {
		return 0, nil //nolint:nilerr // sacct reports the same later
	}
	out, _, err := c.run(ctx, "", "sdiag")
	if err != nil {
		return 0, err
	}
	return parseUnsent(out)
}

// parseUnsent reads what sdiag prints.
func parseUnsent(out string) (int, error) {
	for line := range strings.Lines(out) {
		if count, ok := strings.CutPrefix(strings.TrimSpace(line), "DBD Agent queue size:"); ok {
			return parseCount(strings.TrimSpace(count), 1<<31)
		}
	}
	return 0, nil // of a version that does not print it
}

// parseAccounted reads what sacct prints about a name. Lines about jobs that have
// not ended are passed over.
func parseAccounted(out, name string) (known []ending) {
	const fields = 9
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != fields || tagName(f[2]) != name {
			continue
		}
		if e, err := endingOf(f[0], f[1], name, f[3], f[4], f[5], f[6], f[7]); err == nil {
			e.placed = hasNodes(f[8])
			known = append(known, e)
		}
	}
	return known
}
