package main

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestScancelInGuests: a job of another site, whose account runs jobs of several users, ends those of its own user unless it names
// others by their IDs. Its own it ends last. That it is not shown to its account is an error, not silence.
func TestScancelInGuests(t *testing.T) {
	t.Parallel()
	me, err := userName(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const own, second, others, namesake, local, array protocol.JobID = 2_000_000_000_001, 2_000_000_000_002, 2_000_000_000_003, 3_000_000_000_001,
		1_000_000_000_001, 2_000_000_000_100
	guest := func(id protocol.JobID, user string, origin protocol.SiteName) view.Job {
		return view.Job{ID: id, Name: "tides", User: user, Origin: origin, Site: "aurora", Guest: true, RunsAs: me, State: protocol.Running, Started: 1}
	}
	jobs := map[protocol.JobID]view.Job{
		own: guest(own, "ada", "borealis"), second: guest(second, "ada", "borealis"), others: guest(others, "eve", "borealis"),
		namesake: guest(namesake, "ada", "carina"),
		local:    {ID: local, Name: "tides", User: "ada", Origin: "aurora", Site: "aurora", State: protocol.Running, Started: 1},
	}
	all := []protocol.JobID{own, second, others, namesake, local}
	byName := 0
	if os.Getuid() == 0 { // with a name alone root means the jobs of all users, but no guest is root's
		byName = exitNotPermitted
	}
	for line, tt := range map[string]struct {
		shown []protocol.JobID
		want  []protocol.JobID
		code  int
		says  string
	}{
		"-u " + me:                        {all, []protocol.JobID{second, own}, 0, ""},
		"--me":                            {all, []protocol.JobID{second, own}, 0, ""},
		"--me -n tides":                   {all, []protocol.JobID{second, own}, 0, ""},
		"--me -n waves":                   {all, nil, 0, ""},
		"-u root,daemon -n waves":         {all, nil, 0, ""},
		own.String():                      {all, []protocol.JobID{own}, 0, ""},
		others.String() + " -Q":           {all, []protocol.JobID{others}, 0, ""}, // as the kernel lets it end its processes
		"--me " + namesake.String():       {all, nil, 0, ""},
		"1000000000099":                   {all, nil, 0, "Invalid job id specified"},
		own.String() + " ":                {nil, nil, exitFailed, "this command runs in it, but the peer does not show it"},
		own.String() + " 12":              {nil, nil, exitFailed, "No job is cancelled"},
		array.String():                    {all, nil, exitFailed, "the array is known only at borealis; scancel " + own.String() + " ends this element"},
		"--me -t RUNNING":                 {nil, nil, exitFailed, "whose jobs are meant is not known"},
		"-n tides":                        {all, []protocol.JobID{second, own}, byName, ""},
		"-p grid -t RUNNING --user " + me: {all, []protocol.JobID{second, own}, 0, ""},
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			n := &fakeNode{jobs: map[protocol.JobID]view.Job{}}
			for _, id := range tt.shown {
				n.jobs[id] = jobs[id]
			}
			var ended []protocol.JobID
			n.replyF = func(ev event.Event) (view.Reply, error) {
				if asked, ok := ev.(event.AskQueue); ok {
					var queue view.Queue
					for _, id := range slices.Sorted(slices.Values(tt.shown)) {
						if job := jobs[id]; asked.Filter.Matches(&job) {
							queue.Jobs = append(queue.Jobs, job)
						}
					}
					return queue, nil
				}
				if cancel, ok := ev.(event.Cancel); ok {
					ended = append(ended, cancel.Job)
				}
				return view.Done{}, nil
			}
			env := map[string]string{
				"SWITCHYARD_SOCKET": serve(t, n), "SWITCHYARD_JOB_ID": own.String(), "SLURM_JOB_ID": "12", "SLURM_ARRAY_JOB_ID": array.String(),
				"SWITCHYARD_ORIGIN_SITE": "borealis", "SWITCHYARD_EXEC_SITE": "aurora",
			}
			var out, problems bytes.Buffer
			a := &app{stdin: os.Stdin, now: time.Now, stdout: &out, stderr: &problems, getenv: func(name string) string { return env[name] }}
			code := a.runAs(context.Background(), "scancel", strings.Fields(line))
			if code != tt.code || !slices.Equal(ended, tt.want) || !strings.Contains(problems.String(), tt.says) {
				t.Errorf("code %d, ended %v, want %v\n%s%s", code, ended, tt.want, out.String(), problems.String())
			}
		})
	}
}

// TestSqueueInGuests: the name of a guest's account stands for its user at its origin, and for nobody else of that name.
func TestSqueueInGuests(t *testing.T) {
	t.Parallel()
	own := view.Job{ID: 2_000_000_000_001, User: "ada", Origin: "borealis", Guest: true}
	f := &jobFilter{users: []string{"ada", "eve"}, own: &own}
	for _, tt := range []struct {
		user   string
		origin protocol.SiteName
		want   bool
	}{{"ada", "borealis", true}, {"ada", "carina", false}, {"ada", "aurora", false}, {"eve", "carina", true}, {"bob", "borealis", false}} {
		if got := f.wants(&view.Job{User: tt.user, Origin: tt.origin}); got != tt.want {
			t.Errorf("%s of %s: %t", tt.user, tt.origin, got)
		}
	}
}
