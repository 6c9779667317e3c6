package peer_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/peertest"
)

// play runs commands and returns all that happened.
func play(t *testing.T, commands string) []string {
	t.Helper()
	var s peertest.Script
	var out []string
	for line := range strings.Lines(commands) {
		said := s.Do(strings.TrimSpace(line))
		for _, one := range said {
			if strings.HasPrefix(one, "error:") || strings.HasPrefix(one, "BROKEN") {
				t.Fatalf("%s: %s", strings.TrimSpace(line), one)
			}
		}
		out = append(out, said...)
	}
	return out
}

func has(lines []string, part string) bool {
	return slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, part) })
}

// TestPaper checks the clauses of [SS 2.1] and [SS 2.1.1], sender-initiated.
func TestPaper(t *testing.T) {
	t.Parallel()
	const busyA = "submit a cpus=4 time=600s run=600s\n"
	for name, tt := range map[string]struct {
		commands  string
		want, not []string
	}{
		"AWT below φ: the job stays and no partner is asked": {
			"sites a=4 b=4\nsubmit a cpus=2 name=x",
			[]string{"row job a1:1 at-home at a"},
			[]string{"quote-request"},
		},
		"AWT just below φ": {
			"sites a=4 b=4\nset all phi=601s\n" + busyA + "submit a cpus=2",
			[]string{"row job a2:1 at-home at a"},
			[]string{"quote-request"},
		},
		"AWT equal to φ: the partners are asked": {
			"sites a=4 b=4\nset all phi=600s\n" + busyA + "submit a cpus=2",
			[]string{"send b quote-request a2"},
			[]string{"row job a2:1 at-home at a"},
		},
		"every partner of the set is asked": {
			"sites a=4 b=4 c=4 d=4\n" + busyA + "submit a cpus=2",
			[]string{"send b quote-request a2", "send c quote-request a2", "send d quote-request a2"},
			nil,
		},
		"the least ATT gets the job": {
			"sites a=4 b=4 c=4\nsubmit b cpus=4 time=100s run=100s\nsubmit c cpus=4 time=50s run=50s\n" +
				busyA + "submit a cpus=2\ndeliver-all",
			[]string{"row job a2:1 offered at c", "row job a2:1 handed at c"},
			[]string{"a2:1 offered at b"},
		},
		"the own site competes with its partners": {
			"sites a=4 b=4\nsubmit b cpus=4 time=700s run=700s\n" + busyA + "submit a cpus=2\ndeliver-all",
			[]string{"row job a2:1 at-home at a"},
			[]string{"a2:1 offered"},
		},
		"within ε the lowest RUS gets it": {
			"sites a=4 b=4 c=4\nset all epsilon=30s\nsubmit b cpus=2 time=600s run=600s\n" + busyA + "submit a cpus=2\ndeliver-all",
			[]string{"row job a2:1 offered at c"},
			nil,
		},
		"a partner that does not answer in time is ignored": {
			"sites a=4 b=4 c=4\nset all deadline=2s\n" + busyA + "submit a cpus=2\ndrop a->b\ndeliver a->c\ndeliver c->a\nadvance 1999ms\nshow queue a\nadvance 1ms",
			[]string{"a2 x PENDING (GridQueue), epoch 0 at no site", "partner-silent b", "row job a2:1 offered at c", "silent: b"},
			nil,
		},
		"a late answer counts no more": {
			"sites a=4 b=4\nset all deadline=2s\n" + busyA + "submit a cpus=2\ndeliver a->b\nadvance 2s\ndeliver b->a",
			[]string{"row job a2:1 at-home at a"},
			[]string{"a2:1 offered"},
		},
		"one round at a time, one job in it": {
			"sites a=4 b=4\nset all round-jobs=1\n" + busyA + "submit a cpus=2 n=2\nshow wires\ndeliver-all",
			[]string{"  a->b quote-request a2", "send b quote-request a3"},
			[]string{"  a->b quote-request a3", "quote-request a2 a3"},
		},
		"a job that no partner can run waits at home": {
			"sites a=4 b=2\n" + busyA + "submit a cpus=4",
			[]string{"row job a2:1 at-home at a"},
			[]string{"quote-request"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := play(t, tt.commands)
			for _, part := range tt.want {
				if !has(out, part) {
					t.Errorf("missing: %s\n%s", part, strings.Join(out, "\n"))
				}
			}
			for _, part := range tt.not {
				if has(out, part) {
					t.Errorf("must not be: %s\n%s", part, strings.Join(out, "\n"))
				}
			}
		})
	}
}
