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
			[]string{"row job a1:1 committed-local at a"},
			[]string{"quote-request"},
		},
		"AWT just below φ": {
			"sites a=4 b=4\nset all phi=601s\n" + busyA + "submit a cpus=2",
			[]string{"row job a2:1 committed-local at a"},
			[]string{"quote-request"},
		},
		"AWT equal to φ: the partners are asked": {
			"sites a=4 b=4\nset all phi=600s\n" + busyA + "submit a cpus=2",
			[]string{"send b quote-request a2"},
			[]string{"row job a2:1 committed-local at a"},
		},
		"every partner of the set is asked": {
			"sites a=4 b=4 c=4 d=4\n" + busyA + "submit a cpus=2",
			[]string{"send b quote-request a2", "send c quote-request a2", "send d quote-request a2"},
			nil,
		},
		"the least ATT gets the job": {
			"sites a=4 b=4 c=4\nsubmit b cpus=4 time=100s run=100s\nsubmit c cpus=4 time=50s run=50s\n" +
				busyA + "submit a cpus=2\ndeliver-all",
			[]string{"row job a2:1 offered at c", "row job a2:1 handed-off at c"},
			[]string{"a2:1 offered at b"},
		},
		"the own site competes with its partners": {
			"sites a=4 b=4\nsubmit b cpus=4 time=700s run=700s\n" + busyA + "submit a cpus=2\ndeliver-all",
			[]string{"row job a2:1 committed-local at a"},
			[]string{"a2:1 offered"},
		},
		"within ε the lowest RUS gets it": {
			"sites a=4 b=4 c=4\nset all epsilon=30s\nsubmit b cpus=2 time=600s run=600s\n" + busyA + "submit a cpus=2\ndeliver-all",
			[]string{"row job a2:1 offered at c"},
			nil,
		},
		"a partner that does not answer in time is ignored": {
			"sites a=4 b=4 c=4\nset all deadline=2s\n" + busyA + "submit a cpus=2\ndrop a->b\ndeliver a->c\ndeliver c->a\nadvance 1999ms\nshow queue a\nadvance 1ms",
			[]string{"a2 x PENDING (WaitingForRound), epoch 0 at no site", "partner-unresponsive b", "row job a2:1 offered at c", "silent: b"},
			nil,
		},
		"a late answer counts no more": {
			"sites a=4 b=4\nset all deadline=2s\n" + busyA + "submit a cpus=2\ndeliver a->b\nadvance 2s\ndeliver b->a",
			[]string{"row job a2:1 committed-local at a"},
			[]string{"a2:1 offered"},
		},
		"one round at a time, one job in it": {
			"sites a=4 b=4\nset all round-jobs=1\n" + busyA + "submit a cpus=2 n=2\nshow wires\ndeliver-all",
			[]string{"  a->b quote-request a2", "send b quote-request a3"},
			[]string{"  a->b quote-request a3", "quote-request a2 a3"},
		},
		"R-I: a site below δ volunteers every σ, one at δ does not": {
			"sites a=10 b=10 c=10\nset all initiation=receiver sigma=300s delta=70\nsubmit b cpus=7 time=600s run=600s\nsubmit c cpus=6 time=600s run=600s\nadvance 300s",
			[]string{"send a volunteer, 6 of 10 CPUs busy, for 5m0s", "send b volunteer, 0 of 10 CPUs busy"},
			[]string{"volunteer, 7 of 10 CPUs"},
		},
		"R-I: a job with an AWT of φ or more waits, nobody is asked": {
			"sites a=4 b=4\nset all initiation=receiver\n" + busyA + "submit a cpus=2\nshow queue a",
			[]string{"a2 x PENDING (WaitingForVolunteer), epoch 0 at no site"},
			[]string{"quote-request", "committed-local at a2"},
		},
		"R-I: a volunteer of lower TC gets the job": {
			"sites a=4 b=4\nset all initiation=receiver sigma=300s\n" + busyA + "submit a cpus=2\nadvance 300s\ndeliver-all",
			[]string{"send b quote-request a2", "row job a2:1 offered at b"},
			[]string{"send a quote-request"},
		},
		"R-I: a volunteer that is no better is struck for the job, which waits on": {
			"sites a=4 b=4\nset all initiation=receiver sigma=300s\nset b mhz=100\nset a mhz=400\nsubmit a cpus=4 time=400s run=400s\nsubmit a cpus=2 time=600s run=600s\nadvance 300s\ndeliver-all\nshow queue a",
			[]string{"send b quote-request a2", "a2 x PENDING (WaitingForVolunteer)"},
			[]string{"a2:1 offered", "row job a2:1 committed-local"},
		},
		"R-I: every σ each waiting job looks at its own AWT again": {
			"sites a=4\nset all initiation=receiver sigma=300s phi=60s\n" + busyA + "submit a cpus=4 time=60s n=2\nadvance 1300s",
			[]string{"row job a2:1 committed-local at a", "row job a3:1 committed-local at a"},
			nil,
		},
		"R-I, literally: only the first waiting job is looked at": {
			"sites a=4\nset all initiation=receiver sigma=300s recheck=1\n" + busyA + "submit a cpus=4 time=600s n=2\nadvance 590s\nshow queue a",
			[]string{"a2 x PENDING (WaitingForVolunteer)", "a3 x PENDING (WaitingForVolunteer)"},
			[]string{"call quote a3 a2"},
		},
		"R-I: one availability message brings as many jobs into rounds as draw says": {
			"sites a=4 b=8\nset all initiation=receiver sigma=300s draw=1 round-jobs=1\n" + busyA + "submit a cpus=2 n=2\nadvance 299s\ndeliver b->a\ndeliver-all",
			[]string{"send b quote-request a2"},
			[]string{"send b quote-request a3"},
		},
		"R-I: a job that its own site cannot run asks at once": {
			"sites a=4 b=8\nset all initiation=receiver\nsubmit a cpus=8\ndeliver-all",
			[]string{"send b quote-request a1", "row job a1:1 offered at b"},
			nil,
		},
		"R-I: draw holds for jobs of one round too": {
			"sites a=4 b=8\nset all initiation=receiver sigma=300s draw=1\n" + busyA + "advance 299s\ndeliver b->a\nsubmit a cpus=2 n=5\ndeliver-all",
			[]string{"send b quote-request a2"},
			[]string{"send b quote-request a3", "send b quote-request a2 a3"},
		},
		"R-I: a message draws the first job that its site could run": {
			"sites a=8 b=4\nset all initiation=receiver sigma=300s draw=1\nsubmit a cpus=8 time=600s run=600s\nsubmit a cpus=8\nsubmit a cpus=2\nadvance 299s\ndeliver b->a\ndeliver-all",
			[]string{"send b quote-request a3"},
			nil,
		},
		"R-I: a job whose volunteer lost gets a round when the site turns to S-I": {
			"sites a=4 b=4\nset all initiation=receiver sigma=300s phi=60s\nset b mhz=100\nset a mhz=400\n" +
				"submit a cpus=4 time=4000s run=4000s\nsubmit a cpus=2 time=36000s run=600s\nadvance 299s\ndeliver b->a volunteer\n" +
				"tune a initiation=sender\ndeliver-all\nshow queue a",
			[]string{"row job a2:1 committed-local at a"},
			nil,
		},
		"Sy-I: a volunteer that has refused the job is no volunteer for it": {
			"sites a=4 b=8\nset all initiation=symmetric sigma=300s\nset b max-cpus=4\nsubmit a cpus=4 time=36000s run=36000s\n" +
				"advance 299s\ndeliver-all\nsubmit a cpus=2 time=6000s run=6000s n=3\ndeliver a->b\ndeliver b->a\ndeliver-all\nshow queue a",
			[]string{"offered at b"},
			nil,
		},
		"Sy-I: with stay, a job whose volunteers all lost stays at home": {
			"sites a=4 b=4 c=4\nset all initiation=symmetric sigma=300s stay\nset b mhz=100\nset a mhz=400\nset c mhz=400\n" +
				"submit c cpus=4 time=3600s run=3600s\nadvance 299s\ndeliver-all\n" + busyA + "submit a cpus=2 time=600s\ndeliver-all",
			[]string{"send b quote-request a2", "row job a2:1 committed-local at a"},
			[]string{"send c quote-request a2"},
		},
		"a quote is asked for the speed that the limit is meant for": {
			"sites a=4 b=4\nset a mhz=400\nset b mhz=100\nquote a cpus=2 time=600s\ndeliver-all",
			[]string{"b waits 0s runs 40m0s"},
			nil,
		},
		"Sy-I: without volunteers everybody is asked at once": {
			"sites a=4 b=4 c=4\nset all initiation=symmetric\n" + busyA + "submit a cpus=2",
			[]string{"send b quote-request a2", "send c quote-request a2"},
			nil,
		},
		"Sy-I: with a volunteer nobody else is asked": {
			"sites a=4 b=4 c=4\nset all initiation=symmetric sigma=300s\nsubmit c cpus=4 time=3600s run=3600s\nadvance 300s\ndeliver-all\n" + busyA + "submit a cpus=2",
			[]string{"send b quote-request a2"},
			[]string{"send c quote-request a2"},
		},
		"run times scale with the speed": {
			"sites a=4 b=4\nset a mhz=300\nset b mhz=600\n" + busyA + "submit a cpus=2 time=600s\ndeliver-all",
			[]string{"hears b quote-reply, 0 of 4 CPUs busy, a2 waits 0s runs 5m0s"},
			nil,
		},
		"the rules change while the site runs": {
			"sites a=4 b=4\nset all initiation=receiver\n" + busyA + "submit a cpus=2\ntune a initiation=sender\ndeliver-all",
			[]string{"tuned to sender, policy tc", "send b quote-request a2", "row job a2:1 offered at b"},
			nil,
		},
		"a job that no partner can run waits at home": {
			"sites a=4 b=2\n" + busyA + "submit a cpus=4",
			[]string{"row job a2:1 committed-local at a"},
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
