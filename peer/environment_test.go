package peer_test

import (
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// login is an environment as people have it.
func login() []string {
	return []string{
		"AWS_SECRET_ACCESS_KEY=k", "BASE=/data", "GITHUB_TOKEN=t", "HOME=/home/ada", "LANG=C", "LC_TIME=de",
		"OMP_NUM_THREADS=4", "PATH=/bin", "SSH_AUTH_SOCK=/s", "SWITCHYARD_COMPONENT=mesh", "TZ=UTC",
	}
}

// exporting is a job with that environment, for one site.
func exporting(site protocol.SiteName, export protocol.Export) protocol.Job {
	job := peertest.Plan{Run: protocol.Minute}.Job(protocol.Spec{
		Request: protocol.Request{CPUs: 1, WallTime: protocol.Hour}, Name: "x", Sites: []protocol.SiteName{site},
	})
	job.Payload.Env, job.Export = login(), export
	return job
}

// offered submits a job for b and returns the environment in the offer.
func offered(t *testing.T, change func(*rules.Config), export protocol.Export) []string {
	t.Helper()
	l := newLone(t, change, idle(peertest.Greedy{}, atOnce))
	l.step(event.Submit{User: "ada", Jobs: []protocol.Job{exporting("b", export)}})
	l.answerAll()
	offer, ok := l.last().(protocol.Offer)
	if !ok {
		t.Fatalf("sent %+v", l.sent)
	}
	for _, rec := range l.records {
		if row, ok := rec.Row.(row.Payload); ok && !slices.Equal(row.Payload.Env, login()) {
			t.Errorf("the row keeps %q", row.Payload.Env)
		}
	}
	return offer.Payload.Env
}

// TestEnvironmentLeavesByList: a job that goes to a partner has the variables that the site
// lets leave and those that its user names, and no others. What looks secret leaves by its
// full name only.
func TestEnvironmentLeavesByList(t *testing.T) {
	t.Parallel()
	usual := func(*rules.Config) {}
	site := func(list ...string) func(*rules.Config) {
		return func(cfg *rules.Config) { cfg.ExportRemote = append([]string{}, list...) }
	}
	for name, c := range map[string]struct {
		change func(*rules.Config)
		export protocol.Export
		want   []string
	}{
		"nothing asked": {usual, protocol.Export{}, []string{"LANG=C", "LC_TIME=de", "OMP_NUM_THREADS=4", "SWITCHYARD_COMPONENT=mesh", "TZ=UTC"}},
		"all asked": {usual, protocol.Export{All: true}, []string{
			"BASE=/data", "HOME=/home/ada", "LANG=C", "LC_TIME=de", "OMP_NUM_THREADS=4", "PATH=/bin", "SWITCHYARD_COMPONENT=mesh", "TZ=UTC",
		}},
		"named":                  {site(), protocol.Export{Names: []string{"BASE", "GITHUB_TOKEN", "UNSET"}}, []string{"BASE=/data", "GITHUB_TOKEN=t", "SWITCHYARD_COMPONENT=mesh"}},
		"the site's star":        {site("*"), protocol.Export{}, []string{"BASE=/data", "HOME=/home/ada", "LANG=C", "LC_TIME=de", "OMP_NUM_THREADS=4", "PATH=/bin", "SWITCHYARD_COMPONENT=mesh", "TZ=UTC"}},
		"a secret by its name":   {site("SSH_AUTH_SOCK"), protocol.Export{}, []string{"SSH_AUTH_SOCK=/s", "SWITCHYARD_COMPONENT=mesh"}},
		"no secret by its start": {site("SSH_*", "AWS_*"), protocol.Export{}, []string{"SWITCHYARD_COMPONENT=mesh"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := offered(t, c.change, c.export); !slices.Equal(got, c.want) {
				t.Errorf("got %q\nwant %q", got, c.want)
			}
		})
	}
}

// TestEnvironmentIsWholeAtHome: a job that runs at its own site has all that was submitted,
// whatever may leave.
func TestEnvironmentIsWholeAtHome(t *testing.T) {
	t.Parallel()
	l := newLone(t, func(*rules.Config) {}, idle(peertest.Greedy{}, atOnce))
	l.step(event.Submit{User: "ada", Jobs: []protocol.Job{exporting("a", protocol.Export{})}})
	for _, op := range l.asked {
		if submit, ok := op.(event.SubmitOp); ok {
			if got := submit.Job.Payload.Env; !slices.Equal(got, login()) {
				t.Errorf("it runs with %q", got)
			}
			return
		}
	}
	t.Errorf("it was not submitted: %+v", l.asked)
}
