package peer_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// sharing are a, whose machine has no room for a job of two CPUs, and b, with the directories that each says it shares with
// the other. A GB takes a's link 1000 s.
func sharing(t *testing.T, atA, atB []string) *peertest.World {
	t.Helper()
	share := func(dirs []string) func(*rules.Config) {
		return func(c *rules.Config) {
			c.MaxStaging, c.Partners[0].Shared, c.Partners[0].Bandwidth = 1000, dirs, 1_000_000
		}
	}
	w, err := peertest.New(peertest.Options{Seed: 1, Faults: gentle(), Sites: []peertest.SiteOptions{
		{Name: "a", Capacity: protocol.Capacity{CPUs: 1, Nodes: 1}, Config: share(atA)},
		{Name: "b", Capacity: protocol.Capacity{CPUs: 4, Nodes: 4}, Config: share(atB)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// inDir is a job with files, which runs in a directory.
func inDir(dir string) protocol.Job {
	job := twoCPUs(protocol.Second)
	job.Spec.Data, job.Spec.DataOut = 1_000_000_000, 5
	job.Payload.WorkDir, job.Payload.Stdout, job.Payload.Stderr = dir, dir+"/out", dir+"/out"
	job.Payload.Staging = &protocol.Staging{Bytes: 9, SHA256: [32]byte{1}, Inputs: []protocol.StagedFile{{Name: "x", Size: 1}}, Out: []string{"."}}
	return job
}

// TestJobsRunInPlace: a job in a directory that both sites share runs there, and nothing of it travels; one in another
// directory has its files sent.
func TestJobsRunInPlace(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		dir      string
		atA, atB []string
		inPlace  bool
	}{
		"shared":          {"/home/ann", []string{"/home"}, []string{"/home"}, true},
		"elsewhere":       {"/data/ann", []string{"/home"}, []string{"/home"}, false},
		"b does not say":  {"/home/ann", []string{"/home"}, nil, false},
		"a does not say":  {"/home/ann", nil, []string{"/home"}, false},
		"b says of less":  {"/home/ann", []string{"/home"}, []string{"/home/bob"}, false},
		"b says of more":  {"/home/ann", []string{"/home/ann"}, []string{"/home"}, true},
		"several of them": {"/scratch/x", []string{"/home", "/scratch"}, []string{"/scratch"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := sharing(t, tt.atA, tt.atB)
			var collected, quotes, offers int
			w.Journal = func(line string) {
				if strings.Contains(line, "call collect") {
					collected++
				}
			}
			w.Sent = func(_ protocol.SiteName, out event.Outgoing) {
				switch m := out.Body.(type) { //nolint:gochecksumtype // of the two that describe jobs
				case protocol.QuoteRequest:
					for _, spec := range m.Jobs {
						quotes++
						if spec.InPlace != tt.inPlace || tt.inPlace != (spec.Data == 0 && spec.DataOut == 0 && !spec.Stages()) {
							t.Errorf("asked about is %+v", spec)
						}
					}
				case protocol.Offer:
					offers++
					if m.Spec.InPlace != tt.inPlace || tt.inPlace != (m.Payload.Staging == nil) {
						t.Errorf("offered is %+v, %+v", m.Spec, m.Payload.Staging)
					}
				}
			}
			asked := w.Ask("a", func(asked event.AskID) event.Event {
				return event.TestSubmit{Asked: asked, User: "ada", Jobs: []protocol.Job{inDir(tt.dir)}}
			})
			w.Submit("a", "ada", "", inDir(tt.dir))
			w.Advance(2 * protocol.Minute)
			ended := w.Site("a").Finished()
			if len(ended) != 1 || ended[0].State != protocol.Completed || ended[0].Reason != "" || ended[0].InPlace != tt.inPlace {
				t.Errorf("%+v", ended)
			}
			if quotes < 2 || offers == 0 || (collected == 0) != tt.inPlace {
				t.Errorf("%d quotes, %d offers, %d times was something collected", quotes, offers, collected)
			}
			reply, ok := w.Site("a").Answer(asked).(view.TestSubmitResult)
			if !ok || len(reply.Jobs) != 1 || (len(reply.InPlace) == 1) != tt.inPlace {
				t.Fatalf("%+v", w.Site("a").Answer(asked))
			}
			for _, quote := range reply.Jobs[0] {
				if quote.Site == "b" && (quote.Transfer == 0) != tt.inPlace {
					t.Errorf("the data take %v", quote.Transfer)
				}
			}
		})
	}
}

// TestNotReallyShared: a job whose directory is another one at its site goes back to its origin with the reason, has not
// started, and is as it was.
func TestNotReallyShared(t *testing.T) {
	t.Parallel()
	dirs := []string{peertest.NotShared}
	w := sharing(t, dirs, dirs)
	said := false
	w.Sent = func(_ protocol.SiteName, out event.Outgoing) {
		status, ok := out.Body.(protocol.Status)
		said = said || ok && strings.HasPrefix(status.Reason, "it cannot run in its own directory: it is another directory")
	}
	id := submit(t, w, inDir(peertest.NotShared+"/ann"))
	w.Advance(30 * protocol.Second)
	asked := w.Ask("a", func(asked event.AskID) event.Event { return event.AskJob{Asked: asked, Job: id} })
	w.Advance(protocol.Second)
	job, ok := w.Site("a").Answer(asked).(view.Job)
	if !ok || job.State != protocol.Pending || job.InPlace || job.StageIn != 9 || !job.StageOut || job.Data != 1_000_000_000 {
		t.Errorf("%+v", w.Site("a").Answer(asked))
	}
	if jobs := w.Site("b").Batch.Jobs(); len(jobs) > 0 {
		t.Errorf("b has %+v", jobs)
	}
	if !said {
		t.Error("nobody says why")
	}
}
