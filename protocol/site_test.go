package protocol_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestLivesFollow: a store that has been in a life knows what happened in it.
func TestLivesFollow(t *testing.T) {
	t.Parallel()
	earlier := protocol.Life{Incarnation: 5, Boot: 3, Begun: 100, Generation: 40}
	for name, tt := range map[string]struct {
		life protocol.Life
		want bool
	}{
		"the same one, heard late":        {protocol.Life{Incarnation: 5, Boot: 3, Begun: 100, Generation: 39}, true},
		"the next one":                    {protocol.Life{Incarnation: 5, Boot: 4, Begun: 200, Generation: 40}, true},
		"of an older copy":                {protocol.Life{Incarnation: 5, Boot: 4, Begun: 200, Generation: 39}, false},
		"of a much older copy":            {protocol.Life{Incarnation: 5, Boot: 2, Begun: 200, Generation: 50}, false},
		"of a copy, as often started":     {protocol.Life{Incarnation: 5, Boot: 3, Begun: 200, Generation: 50}, false},
		"of a new store, or after an end": {protocol.Life{Incarnation: 6, Boot: 1, Begun: 200, Generation: 1}, true},
		"of the store before":             {protocol.Life{Incarnation: 4, Boot: 9, Begun: 200, Generation: 99}, false},
	} {
		if got := tt.life.Follows(earlier); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if !earlier.Follows(protocol.Life{}) {
		t.Error("nothing known is followed by everything")
	}
}

func TestSiteNames(t *testing.T) {
	t.Parallel()
	for name, good := range map[string]bool{
		"a": true, "site-1": true, strings.Repeat("x", 32): true,
		"": false, strings.Repeat("x", 33): false, "1a": false, "-a": false, "A": false, "a.b": false, "a b": false, "é": false, "aé": false,
	} {
		if err := protocol.SiteName(name).Validate(); (err == nil) != good {
			t.Errorf("site name %q: %v", name, err)
		}
	}
	for number, good := range map[protocol.SiteNumber]bool{0: false, 1: true, 9000: true, 9001: false} {
		if err := number.Validate(); (err == nil) != good {
			t.Errorf("site number %d: %v", number, err)
		}
	}
}

func TestFits(t *testing.T) {
	t.Parallel()
	small := protocol.Capacity{CPUs: 16, Nodes: 4, MemoryMB: 1000, MaxWallTime: protocol.Hour}
	open := protocol.Capacity{CPUs: 16, Nodes: 4}
	alike := protocol.Capacity{CPUs: 16, Nodes: 4, NodeCPUs: 4}
	for name, tt := range map[string]struct {
		capacity protocol.Capacity
		request  protocol.Request
		why      string
	}{
		"all of it":         {small, protocol.Request{CPUs: 16, Nodes: 4, MemoryMB: 1000, WallTime: protocol.Hour}, ""},
		"a CPU too many":    {small, protocol.Request{CPUs: 17, WallTime: 1}, "needs 17 CPUs, the site has 16"},
		"a node too many":   {small, protocol.Request{CPUs: 1, Nodes: 5}, "needs 5 nodes"},
		"too much memory":   {small, protocol.Request{CPUs: 1, MemoryMB: 1001}, "needs 1001 MB"},
		"too long":          {small, protocol.Request{CPUs: 1, WallTime: protocol.Hour + 1}, "the site's limit is 1:00:00"},
		"memory of CPUs":    {small, protocol.Request{CPUs: 16, MemoryMB: 4000, Layout: protocol.Layout{MemoryPerCPU: 250}}, ""}, // on all nodes
		"of few CPUs":       {small, protocol.Request{CPUs: 2, MemoryMB: 2002, Layout: protocol.Layout{MemoryPerCPU: 1001}}, "needs 1001 MB per node"},
		"of a task":         {small, protocol.Request{CPUs: 2, MemoryMB: 1002, Layout: protocol.Layout{CPUsPerTask: 2, MemoryPerCPU: 501}}, "needs 1002 MB per node"},
		"of many CPUs":      {small, protocol.Request{CPUs: 16, MemoryMB: 4016, Layout: protocol.Layout{MemoryPerCPU: 251}}, "needs 4016 MB in all, the site has 4000"},
		"memory not stated": {open, protocol.Request{CPUs: 1, MemoryMB: math.MaxInt64}, ""},
		"no limit of time":  {open, protocol.Request{CPUs: 1, WallTime: protocol.Never}, ""},
		"a task on a node":  {alike, protocol.Request{CPUs: 8, Layout: protocol.Layout{Tasks: 2, CPUsPerTask: 4}}, ""},
		"a task too large":  {alike, protocol.Request{CPUs: 5, Layout: protocol.Layout{CPUsPerTask: 5}}, "needs 5 CPUs on one node, the largest has 4"},
		"tasks too close":   {alike, protocol.Request{CPUs: 6, Layout: protocol.Layout{TasksPerNode: 6}}, "needs 6 CPUs on one node"},
		"too few nodes":     {alike, protocol.Request{CPUs: 10, Nodes: 2, Layout: protocol.Layout{Tasks: 10, MaxNodes: 2}}, "needs 5 CPUs on one node"},
		"tasks too far":     {alike, protocol.Request{CPUs: 5, Layout: protocol.Layout{Tasks: 5, TasksPerNode: 1}}, "needs 5 nodes, the site has 4"},
		"nodes not stated":  {open, protocol.Request{CPUs: 16, Layout: protocol.Layout{CPUsPerTask: 16}}, ""},
		"an unknown site":   {protocol.Capacity{}, protocol.Request{CPUs: 1}, "the site has 0"},
	} {
		if got := tt.capacity.Fits(tt.request); (tt.why == "") != (got == "") || !strings.Contains(got, tt.why) {
			t.Errorf("%s: Fits = %q, want %q", name, got, tt.why)
		}
		if got := tt.capacity.CanRun(tt.request); got != (tt.why == "") {
			t.Errorf("%s: Holds = %t", name, got)
		}
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		load      protocol.Load
		rus, free int
	}{
		{protocol.Load{CPUs: 8, Busy: 2}, 250_000, 6},
		{protocol.Load{CPUs: 3, Busy: 1}, 333_333, 2},
		{protocol.Load{CPUs: 8, Busy: 2, PowerIdledCPUs: 4}, 750_000, 2},
		{protocol.Load{CPUs: 8, PowerIdledCPUs: 8}, protocol.PPM, 0},
		{protocol.Load{CPUs: 8, Busy: 8, QueuedJobs: 5}, protocol.PPM, 0},
		{protocol.Load{}, protocol.PPM, 0}, // unknown: as if full
		{protocol.Load{CPUs: 2, Busy: 3}, 1_500_000, 0},
		{protocol.Load{CPUs: math.MaxInt32, Busy: math.MaxInt32}, protocol.PPM, 0},
	} {
		if tt.load.RUS() != tt.rus || tt.load.Free() != tt.free {
			t.Errorf("%+v: RUS %d, free %d; want %d, %d", tt.load, tt.load.RUS(), tt.load.Free(), tt.rus, tt.free)
		}
	}
}

func TestProofsAreBase64(t *testing.T) {
	t.Parallel()
	life := protocol.Life{Incarnation: 1, Boot: 2, Begun: 3, Generation: 4, Proof: protocol.Proof{0: 7, 63: 255}}
	data, err := json.Marshal(life)
	if err != nil {
		t.Fatal(err)
	}
	var back protocol.Life
	if err = json.Unmarshal(data, &back); err != nil || back != life {
		t.Errorf("%s becomes %+v, %v", data, back, err)
	}
	for _, wrong := range []string{"Bw==", "*", ""} {
		if err = back.Proof.UnmarshalText([]byte(wrong)); err == nil {
			t.Errorf("%q is taken for a proof", wrong)
		}
	}
	if data, err = json.Marshal(protocol.Life{Boot: 1}); err != nil || strings.Contains(string(data), "proof") {
		t.Errorf("a life without a proof is %s, %v", data, err)
	}
}
