package daemon_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/view"
)

// TestSettingsHistory: what a reload changes and what a restart changes is kept, and a damaged file loses what was before it only.
func TestSettingsHistory(t *testing.T) {
	t.Parallel()
	site := makeGrid(t, testbed.Machine{Name: "aurora", CPUs: 2}).Sites[0]
	edit := func(from, to string) {
		t.Helper()
		text, err := os.ReadFile(site.Config)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), from) {
			t.Fatalf("%q is not in the configuration", from)
		}
		if err = os.WriteFile(site.Config, []byte(strings.Replace(string(text), from, to, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var saw []api.SettingsChange
	var failed error
	run := func(act func(d running)) (log string) {
		t.Helper()
		d := start(t, site)
		d.ready(t)
		act(d)
		client := site.Client()
		defer client.Close()
		var history api.SettingsHistory
		history, failed = client.SettingsChanges(t.Context())
		saw = history.Changes
		d.end()
		if err := d.stopped(t); err != nil {
			t.Error(err)
		}
		return d.log.String()
	}
	expect := func(when string, want ...string) {
		t.Helper()
		if failed != nil {
			t.Errorf("%s: %v", when, failed)
		}
		var got []string
		for i, one := range saw {
			if one.At == 0 || i > 0 && one.At > saw[i-1].At {
				t.Errorf("%s: at %v, after %v", when, saw[i].At, saw)
			}
			for _, c := range one.Changed {
				got = append(got, one.By+" "+c.Text())
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", when, got, want)
		}
	}
	run(func(d running) {
		edit("turnaround_tolerance = \"1s\"", "turnaround_tolerance = \"2s\"")
		if _, err := d.Reload(t.Context(), "a test"); err != nil {
			t.Error(err)
		}
	})
	const reloaded = "a test policy.tc.turnaround_tolerance: \"1s\" → \"2s\""
	expect("a reload", reloaded)
	edit("turnaround_tolerance = \"2s\"", "turnaround_tolerance = \"3s\"")
	const restarted = " policy.tc.turnaround_tolerance: \"2s\" → \"3s\""
	run(func(running) {})
	expect("another start", restarted, reloaded)
	run(func(running) {})
	expect("a start without changes", restarted, reloaded)

	if err := os.WriteFile(filepath.Join(site.Dir, "state", "settings.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if log := run(func(running) {}); !strings.Contains(log, "settings_history_lost") || !strings.Contains(log, "settings.json") {
		t.Errorf("the log is\n%s", log)
	}
	expect("a damaged file")
	if aside, err := os.ReadFile(filepath.Join(site.Dir, "state", "settings.json.bad")); string(aside) != "{" {
		t.Errorf("set aside is %q, %v", aside, err)
	}
	edit("turnaround_tolerance = \"3s\"", "turnaround_tolerance = \"4s\"")
	run(func(running) {})
	expect("after it", " policy.tc.turnaround_tolerance: \"3s\" → \"4s\"")

	file := filepath.Join(site.Dir, "state", "settings.json")
	if err := errors.Join(os.Rename(file, file+".aside"), os.Mkdir(file, 0o700)); err != nil {
		t.Fatal(err)
	}
	run(func(running) {})
	if refused, ok := errors.AsType[*api.Error](failed); !ok || refused.Code != view.Unavailable || !strings.Contains(refused.Reason, file) {
		t.Errorf("a file that cannot be read: %v, %v", saw, failed)
	}
	if err := errors.Join(os.Remove(file), os.Rename(file+".aside", file)); err != nil {
		t.Fatal(err)
	}
	run(func(running) {})
	expect("the file again", " policy.tc.turnaround_tolerance: \"3s\" → \"4s\"")
}
