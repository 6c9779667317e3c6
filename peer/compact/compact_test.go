package compact_test

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/peer/compact"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestPackedPayloads: what was packed comes out again, whatever was packed before and after it.
func TestPackedPayloads(t *testing.T) {
	t.Parallel()
	word := rapid.StringMatching(`[ab]{0,2}`)
	rapid.Check(t, func(t *rapid.T) {
		var store compact.Store
		var want []*protocol.Payload
		var all []compact.Payload
		var rows []row.Job
		for range rapid.IntRange(1, 12).Draw(t, "jobs") {
			p := &protocol.Payload{WorkDir: word.Draw(t, "work dir"), Stdout: word.Draw(t, "stdout"), Stderr: word.Draw(t, "stderr")}
			if rapid.Bool().Draw(t, "asks for more") {
				p.Input, p.AppendOutput = word.Draw(t, "input"), rapid.Bool().Draw(t, "append")
				p.LimitSignal = protocol.LimitSignal{Signal: rapid.IntRange(0, 2).Draw(t, "signal"), ScriptOnly: rapid.Bool().Draw(t, "script only")}
			}
			if script := word.Draw(t, "script"); script != "" {
				p.Script = []byte(script)
			}
			for range rapid.IntRange(0, 2).Draw(t, "args") {
				p.Args = append(p.Args, word.Draw(t, "arg"))
			}
			for range rapid.SampledFrom([]int{0, 1, 12, 12, 12}).Draw(t, "variables") {
				p.Env = append(p.Env, word.Draw(t, "variable"))
			}
			if rapid.Bool().Draw(t, "shell") {
				p.Shell = &protocol.Shell{Umask: rapid.IntRange(0, 1).Draw(t, "umask"), Limits: []protocol.ResourceLimit{{Name: "CORE"}}}
			}
			of := row.Job{WorkDir: p.WorkDir, Stdout: p.Stdout, Stderr: p.Stderr}
			if rapid.Bool().Draw(t, "a row with other names") {
				of.Stdout = word.Draw(t, "stdout of the row")
			}
			want = append(want, p)
			all = append(all, store.Pack(word.Draw(t, "user"), &of, p))
			rows = append(rows, of)
		}
		for i, one := range all {
			if got := one.Unpack(&rows[i]); !reflect.DeepEqual(got, want[i]) {
				t.Fatalf("payload %d is %+v, was %+v", i, got, want[i])
			}
		}
	})
}

// TestPackedPayloadsShare: of jobs of one user, one after another, only what differs is kept.
func TestPackedPayloadsShare(t *testing.T) {
	t.Parallel()
	payload := func(change func(*protocol.Payload)) *protocol.Payload {
		p := &protocol.Payload{Script: []byte(strings.Repeat("x", 1000))}
		for i := range 50 {
			p.Env = append(p.Env, fmt.Sprintf("VARIABLE_%d=%s", i, strings.Repeat("x", 80)))
		}
		change(p)
		return p
	}
	for name, tt := range map[string]struct {
		change func(*protocol.Payload)
		most   int // bytes
	}{
		"the same":            {func(*protocol.Payload) {}, 0},
		"another directory":   {func(p *protocol.Payload) { p.Env[7] = "PWD=/run/7" }, 10},
		"another script":      {func(p *protocol.Payload) { p.Script = []byte("y") }, 1},
		"no script":           {func(p *protocol.Payload) { p.Script = nil }, 0},
		"no environment":      {func(p *protocol.Payload) { p.Env = nil }, 0},
		"a variable is gone":  {func(p *protocol.Payload) { p.Env = p.Env[:49] }, 0},
		"another environment": {func(p *protocol.Payload) { p.Env = []string{"A=1", "B=2"} }, 6},
		"ten other variables": {func(p *protocol.Payload) {
			for i := range 10 {
				p.Env[i] = "A=1"
			}
		}, 30},
	} {
		var store compact.Store
		first := store.Pack("ada", &row.Job{}, payload(func(*protocol.Payload) {}))
		second := store.Pack("ada", &row.Job{}, payload(tt.change))
		if bytes := second.Own(first); bytes > tt.most {
			t.Errorf("%s: %d bytes of its own", name, bytes)
		}
	}
}

// TestPackingKeepsLittle: what is remembered for jobs to come is bounded.
func TestPackingKeepsLittle(t *testing.T) {
	t.Parallel()
	var store compact.Store
	for i := range 100 {
		script := fmt.Appendf(nil, "%d %s", i, strings.Repeat("x", 200_000))
		store.Pack(strconv.Itoa(i), &row.Job{}, &protocol.Payload{Script: script})
		if kept := store.Kept(); kept > 9<<20 {
			t.Fatalf("%d bytes are kept after %d jobs", kept, i+1)
		}
	}
}
