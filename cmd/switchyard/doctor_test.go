package main

import (
	"encoding/json"
	"net"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/daemon"
)

// doctor has a site looked at, and returns the notes of each verdict and check, as "failed partner borealis".
func (g *grid) doctor(t *testing.T, site *testbed.Site) (code int, notes map[string]string) {
	t.Helper()
	got := g.at(t, site, "", "doctor", "--config", site.Config, "--json")
	var found struct {
		Findings []daemon.Finding `json:"findings"`
	}
	if err := json.Unmarshal([]byte(got.stdout), &found); err != nil {
		t.Fatalf("%v: %+v", err, got)
	}
	notes = map[string]string{}
	for _, one := range found.Findings {
		notes[string(one.Verdict)+" "+one.Check] += one.What + "; " + one.Remedy + "\n"
	}
	return got.code, notes
}

// TestDoctor: a grid that is well has no failed check, one whose partner is away has that, and a stopped peer is looked at
// from outside.
func TestDoctor(t *testing.T) {
	g := startGrid(t, testbed.Machine{Name: "aurora", CPUs: 1}, testbed.Machine{Name: "borealis", CPUs: 1})
	aurora, borealis := g.Sites[0], g.Sites[1]
	code, notes := g.doctor(t, aurora)
	for check, words := range map[string]string{
		"ok peer": "site aurora", "ok configuration": "keys", "ok partner borealis": "the link is up", "ok port": "[nats] listen",
	} {
		if !strings.Contains(notes[check], words) || code != 0 {
			t.Errorf("exit code %d, %s is not %q in %v", code, check, words, notes)
		}
	}
	if got := g.at(t, aurora, "", "drain", "borealis", "--reason=disks"); got.code != 0 {
		t.Fatalf("%+v", got)
	}
	if got := g.at(t, aurora, "", "drain", "--local", "--reason=power"); got.code != 0 {
		t.Fatalf("%+v", got)
	}
	if _, notes = g.doctor(t, aurora); !strings.Contains(notes["warning partner borealis"], "disks; switchyard resume borealis ends that") || !strings.Contains(notes["warning peer"], "power; switchyard resume") {
		t.Errorf("a drained partner and a drained site: %v", notes)
	}
	wantWords(t, g.at(t, aurora, "", "doctor", "--config", aurora.Config), 0, "VERDICT", "warning  partner borealis")
	if err := borealis.Stop(20 * time.Second); err != nil {
		t.Fatal(err)
	}
	linkIs(t, aurora, "borealis", "down", "")
	code, notes = g.doctor(t, aurora)
	if code != exitFailed || !strings.Contains(notes["failed partner borealis"], "see that its peer runs") {
		t.Errorf("exit code %d, a partner that is away: %v", code, notes)
	}
	if err := aurora.Stop(20 * time.Second); err != nil {
		t.Fatal(err)
	}
	code, notes = g.doctor(t, aurora)
	if code != 0 || !strings.Contains(notes["warning peer"], "does not run") || !strings.Contains(notes["ok database"], "no errors") || notes["ok port"] == "" {
		t.Errorf("exit code %d, a stopped peer: %v", code, notes)
	}
	text, err := os.ReadFile(aurora.Config)
	if err != nil {
		t.Fatal(err)
	}
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", regexp.MustCompile(`listen = "(.+)"`).FindStringSubmatch(string(text))[1])
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	key := regexp.MustCompile(`(?m)^key *= "(.+)"`).FindStringSubmatch(string(text))[1]
	if err = os.Chmod(key, 0o644); err != nil {
		t.Fatal(err)
	}
	code, notes = g.doctor(t, aurora)
	if code != exitFailed || !strings.Contains(notes["failed port"], "is not free") || !strings.Contains(notes["failed configuration"], key) {
		t.Errorf("exit code %d, a taken port and an open key: %v", code, notes)
	}
}
