package protocol_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestDependencies(t *testing.T) {
	t.Parallel()
	const one, two = 1_000_000_000_001, 2_000_000_000_002
	type terms = []protocol.DependencyTerm
	for text, want := range map[string]protocol.Dependency{
		"afterok:1000000000001":                       {Terms: terms{{Kind: protocol.AfterOK, Job: one}}},
		"AfterAny:1000000000001:2000000000002":        {Terms: terms{{Kind: protocol.AfterAny, Job: one}, {Kind: protocol.AfterAny, Job: two}}},
		"after:1000000000001+90:2000000000002":        {Terms: terms{{Kind: protocol.After, Job: one, Delay: 90 * protocol.Minute}, {Kind: protocol.After, Job: two}}},
		"singleton,afternotok:1000000000001":          {Terms: terms{{Kind: protocol.Singleton}, {Kind: protocol.AfterNotOK, Job: one}}},
		"afterok:1000000000001?afterok:2000000000002": {Any: true, Terms: terms{{Kind: protocol.AfterOK, Job: one}, {Kind: protocol.AfterOK, Job: two}}},
		"afterok:1000000000001_0":                     {Terms: terms{{Kind: protocol.AfterOK, Job: one + 1}}},
	} {
		if got, err := protocol.ParseDependency(text); err != nil || !reflect.DeepEqual(got, &want) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	if got, err := protocol.ParseDependency(""); got != nil || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
	for text, want := range map[string]string{
		"1000000000001": "no kind", "afterok": "names no job", "afterok:": "not a number", "afterok:7": "names no site",
		"afterok:1000000000001+5": "only \"after\"", "after:1000000000001+x": "whole number", "singleton:1000000000001": "names no jobs",
		"aftercorr:1000000000001_3": "names the array", "afterok:1000000000001,afterok:2000000000002?singleton": "exclude",
		"afterok:1000000000001,": "no kind", "afterok:1000000000001_[1-3]": "several elements",
		"afterok" + strings.Repeat(":1000000000001", 1001): "at most 1000",
		"aftercorr" + strings.Repeat(":1000000000001", 9):  "at most 8",
	} {
		if got, err := protocol.ParseDependency(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: %+v, %v; want %s", text, got, err, want)
		}
	}
}

// TestDependencyOutcomes: what becomes of each kind when its job starts and ends.
func TestDependencyOutcomes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text        string
		started     bool
		state       protocol.State // 0: it has not ended
		met, never  bool
		later, left string
	}{
		{text: "afterok:1000000000001", started: true, left: "afterok:1000000000001(unfulfilled)"},
		{text: "afterok:1000000000001", state: protocol.Completed, met: true},
		{text: "afterok:1000000000001", state: protocol.Failed, never: true, left: "afterok:1000000000001(failed)"},
		{text: "afternotok:1000000000001", state: protocol.Timeout, met: true},
		{text: "afternotok:1000000000001", state: protocol.Completed, never: true, left: "afternotok:1000000000001(failed)"},
		{text: "afterany:1000000000001", state: protocol.Cancelled, met: true},
		{text: "after:1000000000001", started: true, met: true},
		{text: "after:1000000000001", state: protocol.Cancelled, met: true},
		{text: "afterok:1000000000001?afterok:2000000000002", state: protocol.Failed, left: "afterok:1000000000001(failed)?afterok:2000000000002(unfulfilled)"},
		{text: "afterok:1000000000001?afterok:2000000000002", state: protocol.Completed, met: true, left: "afterok:2000000000002(unfulfilled)"},
		{text: "afterok:1000000000001,afterok:2000000000002", state: protocol.Completed, left: "afterok:2000000000002(unfulfilled)"},
		{text: "afterok:1000000000001,afterok:2000000000002", state: protocol.Failed, never: true, left: "afterok:1000000000001(failed),afterok:2000000000002(unfulfilled)"},
	} {
		d, err := protocol.ParseDependency(tt.text)
		if err != nil {
			t.Fatal(err)
		}
		if tt.started {
			d.Terms[0] = d.Terms[0].Started(100)
		}
		if tt.state != 0 {
			d.Terms[0] = d.Terms[0].Ended(tt.state, 100)
		}
		if d.MetAt(99) || d.MetAt(100) != tt.met || (d.NeverReason() != "") != tt.never || d.String() != tt.left {
			t.Errorf("%+v: %+v", tt, d)
		}
	}
	d, _ := protocol.ParseDependency("after:1000000000001+1")
	d.Terms[0] = d.Terms[0].Started(100)
	if d.MetAt(60_099) || !d.MetAt(60_100) || d.Next(100) != 60_100 || d.Next(60_100) != 0 {
		t.Errorf("%+v", d)
	}
	if again := d.Terms[0].Ended(protocol.Failed, 999); !again.Equal(d.Terms[0]) {
		t.Errorf("a term that is met changes: %+v", again)
	}
}

func FuzzDependency(f *testing.F) {
	f.Add("afterok:1000000000001,after:1000000000001+5")
	f.Fuzz(func(t *testing.T, text string) {
		if d, err := protocol.ParseDependency(text); err == nil && d != nil && (d.Check() != nil || d.MetAt(1) && !d.Corresponds() || d.NeverReason() != "") {
			t.Fatalf("%q: %+v", text, d)
		}
	})
}
