package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestGuestsOfOneAccount: at a site with [api] private that runs guests of two sites as one account, a guest sees itself, ends jobs of
// its user by name and by its account, and itself, but none of another user. It finds those that have ended in the history.
func TestGuestsOfOneAccount(t *testing.T) {
	t.Parallel()
	program := programOfAll(t)
	g := makeGridFrom(t, testbed.Config{Binary: program, QuoteTimeout: 20 * protocol.Second, CheckInterval: 30 * protocol.Second, Sites: []testbed.Machine{
		{Name: "aurora", CPUs: 1}, {Name: "borealis", CPUs: 1}, {Name: "carina", CPUs: 8, More: "[api]\nprivate = true"},
	}})
	if err := g.Start(patience(t)); err != nil {
		t.Fatal(err)
	}
	const sleeps = "#!/bin/sh\nexec /bin/sleep 1000\n"
	sent := func(site *testbed.Site, script, name string) protocol.JobID {
		id := g.submit(t, site, script, "--sites=carina", "-J", name, "--export-remote="+asBinary, "-o", name+"-%j")
		g.until(t, site, id, running)
		return id
	}
	namesake := sent(g.Sites[1], sleeps, "tides")
	tides, waves := sent(g.Sites[0], sleeps, "tides"), sent(g.Sites[0], sleeps, "waves")
	kept := []protocol.JobID{namesake}
	if os.Geteuid() == 0 { // who can submit as somebody else
		other := submitAsOwner(t, g, program, "exec /bin/sleep 1000\n", "--sites=carina", "-J", "tides")
		g.until(t, g.Sites[0], other, running)
		kept = append(kept, other)
	}
	id := sent(g.Sites[0], `#!/bin/sh
PATH=${PATH##*:} # this machine may have a Slurm, whose commands come first
until [ "$(squeue -h -j $SLURM_JOB_ID -o %T)" = RUNNING ]; do :; done
echo "mine: $(squeue -h -u $USER -o %j | /usr/bin/sort | /usr/bin/tr '\n' ' ')"
scancel -n tides
echo "by name: $?"
until [ -z "$(squeue -h --me -n tides -o %i)" ]; do :; done
until sacct -n -X -S now-1hours -o JobName%20,State%20 | /usr/bin/grep -q 'tides *CANCELLED'; do :; done
scancel --me
exec /bin/sleep 1000
`, "commander")
	job := g.until(t, g.Sites[0], id, ended)
	got := g.output(t, job)
	if !regexp.MustCompile(`^mine: commander tides waves \nby name: 0\n`).MatchString(got) {
		t.Errorf("it prints %q", got)
	}
	for _, id := range []protocol.JobID{id, tides, waves} {
		job := g.until(t, g.Sites[0], id, ended)
		if job.State != protocol.Cancelled || !strings.HasPrefix(job.Reason, "cancelled at carina by its account there, ") {
			t.Errorf("job %v %s is %v: %s", id, job.Name, job.State, job.Reason)
		}
	}
	for _, id := range kept {
		job := g.until(t, g.Sites[2], id, running)
		if got := g.at(t, g.Sites[2], "", "explain", id.String()); strings.Contains(got.stdout, "cancel") {
			t.Errorf("job %v is %v: %s", id, job.State, got.stdout)
		}
	}
}
