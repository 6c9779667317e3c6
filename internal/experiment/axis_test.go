package experiment_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestParseValues(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0.7..1.3":        "0.7 0.8 0.9 1 1.1 1.2 1.3",
		"0.1..0.5/0.2":    "0.1 0.3 0.5",
		"1..2/0.25":       "1 1.25 1.5 1.75 2",
		"1..2/0.3":        "1 1.3 1.6 1.9",
		"-0.5..0.5/0.5":   "-0.5 0 0.5",
		"60s, 300s ,900s": "60s 300s 900s",
		"true":            "true",
		"1..1":            "1",
	} {
		got, err := experiment.ParseValues(text)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q gives %q, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"":            "empty value",
		"1,,2":        "empty value",
		"1,1":         "twice",
		"1..x":        "no number",
		"NaN..1":      "no number",
		"1..Inf":      "no number",
		"2..1":        "below its beginning",
		"1..2/0":      "above 0",
		"0..1/0.0001": "more than 1000",
	} {
		if got, err := experiment.ParseValues(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %q, %v", text, got, err)
		}
	}
}

func TestParseAxis(t *testing.T) {
	t.Parallel()
	axis, err := experiment.ParseAxis("check_interval = 1m,5m")
	if err != nil || axis.Key != "check_interval" || len(axis.Values) != 2 {
		t.Errorf("%+v, %v", axis, err)
	}
	for _, text := range []string{"load", "colour=red", "load=a..b"} {
		if _, err := experiment.ParseAxis(text); err == nil {
			t.Errorf("%q is an axis", text)
		}
	}
}

func TestSettingsAreChecked(t *testing.T) {
	t.Parallel()
	plan, err := experiment.Preset("heavy")
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range []experiment.Setting{
		{"scheme", "both"},
		{"load", "x"},
		{"load", "0"},
		{"load", "NaN"},
		{"local_wait_threshold", "60"},
		{"local_wait_threshold", "-1s"},
		{"volunteer_below", "2"},
		{"partners_per_round", "1.5"},
		{"stay_local", "perhaps"},
		{"local_wait_threshold", "1d2x"},
		{"latency", "-1d"},
		{"policy", "lottery"},
		{"bias", "3"},
		{"size_unit", "core"},
		{"loss", "1"},
		{"seed", "2"},
		{"workload.m1.bias", "3"},
		{"workload.m1.trace", "m1.swf"}, // read before
		{"workload.m7.bias", "0"},
		{"workload.m1", "0"},
	} {
		if _, err := plan.With(one); err == nil {
			t.Errorf("%s = %s is allowed", one.Key, one.Value)
		}
	}
}

// TestAPlanHasItsValues: however they are written, and whether its file or a default states them.
func TestAPlanHasItsValues(t *testing.T) {
	t.Parallel()
	plan, err := experiment.Preset("heavy")
	if err != nil {
		t.Fatal(err)
	}
	for one, want := range map[experiment.Setting]bool{
		{Key: "policy", Value: "easy"}: true, {Key: "policy", Value: "sjf"}: false,
		{Key: "check_interval", Value: "300s"}: true, {Key: "check_interval", Value: "5m"}: true, {Key: "check_interval", Value: "6m"}: false,
		{Key: "estimates", Value: "trace"}: true, {Key: "estimates", Value: "perfect"}: false,
		{Key: "workload.m1.bias", Value: "-0.40"}: true, {Key: "workload.m1.bias", Value: "0"}: false, {Key: "bias", Value: "-0.4"}: false,
		{Key: "load", Value: "1.0"}: true, {Key: "load", Value: "x"}: false,
	} {
		if plan.Has(one) != want {
			t.Errorf("has %s = %s: %t", one.Key, one.Value, !want)
		}
	}
}

// TestAWorkloadIsSetByItsSite: bias sets that of all models, this key that of one.
func TestAWorkloadIsSetByItsSite(t *testing.T) {
	t.Parallel()
	plan, err := experiment.Preset("heavy")
	if err != nil {
		t.Fatal(err)
	}
	changed := set(t, plan, experiment.Setting{Key: "workload.m2.bias", Value: "0.5"})
	for i, before := range plan.Workloads {
		want := before.Bias
		if before.Site == "m2" {
			want = 0.5
		}
		if got := changed.Workloads[i].Bias; got != want {
			t.Errorf("%s has the bias %v, want %v", before.Site, got, want)
		}
	}
	several := opened(t, smallPlan+"\n[[workload]]\nsite = \"idle\"\nmodel = \"M2\"\n")
	if _, err = several.With(experiment.Setting{Key: "workload.idle.bias", Value: "0"}); err == nil {
		t.Error("a site with two workloads is taken for one of them")
	}
}

// TestDurationsAreThoseOfFiles: --set takes what a file takes.
func TestDurationsAreThoseOfFiles(t *testing.T) {
	t.Parallel()
	plan, err := experiment.Preset("heavy")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]protocol.Duration{
		"2d": 2 * protocol.Day, "1d12h": 36 * protocol.Hour, "90s": 90 * protocol.Second, "2500ms": 2500 * protocol.Millisecond,
	} {
		changed, err := plan.With(experiment.Setting{Key: "check_interval", Value: text})
		if err != nil || changed.Rounds.CheckInterval != want {
			t.Errorf("%s: %v, %v", text, changed, err)
		}
	}
}

func TestJoinForms(t *testing.T) {
	t.Parallel()
	plan, err := experiment.Preset("heavy")
	if err != nil {
		t.Fatal(err)
	}
	joined, err := plan.Join("new=64x16@2400,model=M2,jobs=100,bias=-0.5,policy=sjf")
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Sites) != 6 || len(joined.Sites) != 7 {
		t.Fatalf("%d sites before, %d after", len(plan.Sites), len(joined.Sites))
	}
	site, work := joined.Sites[6], joined.Workloads[6]
	var want experiment.Site
	want.SetDefaults()
	want.Name = "new"
	l := &want.LocalSched
	l.CPUs, l.Nodes, l.MHz, l.Machine, l.Policy = 1024, 64, 2400, config.WholeNode, "sjf"
	if !reflect.DeepEqual(site, want) || work.Model != "M2" || work.Jobs != 100 || work.Bias != -0.5 {
		t.Errorf("site %+v, workload %+v", site, work)
	}
	if bare, err := plan.Join("new=8×4"); err != nil || bare.CPUs(6) != 32 || len(bare.Workloads) != 6 {
		t.Errorf("a machine without jobs: %v", err)
	}
	for _, text := range []string{
		"", "new", "new=8", "new=8xx4", "new=axb", "m1=8x4", "New=8x4", "new=0x4", "new=8x4@", "new=8x4,colour=red",
		"new=8x4,jobs=many", "new=8x4,model=", "new=8x4,policy=lottery", "new=8x4,trace=x.swf,jobs=4", "new=8x4,trace=x.swf,span=long", "new=8x4,model=M1,from=2002-03-01", "new=8x4,model=M1,scale=perhaps",
	} {
		if _, err := plan.Join(text); err == nil {
			t.Errorf("%q joins", text)
		}
	}
}

// TestRenamedSettings: a key of an earlier version gets one that --set takes.
func TestRenamedSettings(t *testing.T) {
	t.Parallel()
	plan, err := experiment.Preset("heavy")
	if err != nil {
		t.Fatal(err)
	}
	for old, now := range map[string]experiment.Setting{
		"part_nodes": {Key: "size_unit", Value: "node"},
		"phi":        {Key: "rounds.local_wait_threshold", Value: "60s"},
	} {
		_, err := plan.With(experiment.Setting{Key: old, Value: now.Value})
		if err == nil || err.Error() != fmt.Sprintf("%q is now %q", old, now.Key) {
			t.Errorf("%s: %v", old, err)
		}
		if _, err := plan.With(now); err != nil {
			t.Errorf("%s: %v", now.Key, err)
		}
	}
}
