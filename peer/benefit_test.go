package peer_test

import "testing"

// TestBenefit: the response that a job would have had at home over the one that it had
// ([MC] equation 9), as a geometric mean, in parts per million.
func TestBenefit(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		commands string
		want     string // of site a, as it shows itself
	}{
		"nothing has run": {"sites a=2 b=2\nshow sites a", "  a self, 0 of 2 CPUs busy, jobs of it here 0, of ours there 0"},
		"a job at home, at once: 1": {
			"sites a=2\nsubmit a run=60s\nadvance 60s\nshow sites a",
			"  a self, 0 of 2 CPUs busy, jobs of it here 0, of ours there 0, benefit 1000000 ppm",
		},
		"600 s + 300 s at home, 300 s at b: 3": {
			"sites a=2 b=2\nsubmit a cpus=2 time=600s run=600s\nsubmit a cpus=2 time=600s run=300s\ndeliver-all\nadvance 300s\ndeliver-all\nadvance 1s\nshow sites a",
			"  a self, 2 of 2 CPUs busy, jobs of it here 1, of ours there 0, benefit 3000000 ppm",
		},
		"and the one at home, too: the root of 3": {
			"sites a=2 b=2\nsubmit a cpus=2 time=600s run=600s\nsubmit a cpus=2 time=600s run=300s\ndeliver-all\nadvance 300s\ndeliver-all\nadvance 300s\nshow sites a",
			"  a self, 0 of 2 CPUs busy, jobs of it here 0, of ours there 0, benefit 1732051 ppm",
		},
		"b is twice as fast: 600 s + 600 s at home, 300 s there: 4": {
			"sites a=2 b=2\nset a mhz=100\nset b mhz=200\nsubmit a cpus=2 time=600s run=600s\nsubmit a cpus=2 time=600s run=300s\ndeliver-all\nadvance 300s\ndeliver-all\nadvance 1s\nshow sites a",
			"  a self, 2 of 2 CPUs busy, jobs of it here 1, of ours there 0, benefit 4000000 ppm",
		},
		"by Mflop/s, where both state them: 600 s + 1200 s at home, 300 s there: 6": {
			"sites a=2 b=2\nset a mhz=100 mflops=10\nset b mhz=200 mflops=40\nsubmit a cpus=2 time=600s run=600s\nsubmit a cpus=2 time=1200s run=300s\ndeliver-all\nadvance 300s\ndeliver-all\nadvance 1s\nshow sites a",
			"  a self, 2 of 2 CPUs busy, jobs of it here 1, of ours there 0, benefit 6000000 ppm",
		},
		"60 s at home, waited 60 s for the cycle: a half": {
			"sites a=2\nset a greedy initiation=cycle\nsubmit a run=60s\nadvance 120s\nshow sites a",
			"  a self, 0 of 2 CPUs busy, jobs of it here 0, of ours there 0, benefit 500000 ppm",
		},
		"a job that never ran says nothing": {
			"sites a=2\nsubmit a cpus=2 time=600s run=600s\nsubmit a cpus=2 time=600s\ncancel a a2\nshow sites a",
			"  a self, 2 of 2 CPUs busy, jobs of it here 1, of ours there 0",
		},
		"nor one that could not run at home": {
			"sites a=2 b=4\nsubmit a cpus=4 run=60s\ndeliver-all\nadvance 60s\ndeliver-all\nshow sites a",
			"  a self, 0 of 2 CPUs busy, jobs of it here 0, of ours there 0",
		},
		"partners hear of it with the load": {
			"sites b=2 a=2\nsubmit b run=60s\nadvance 60s\nsubmit b run=60s\nshow sites a",
			"  b up, 1 of 2 CPUs busy, jobs of it here 0, of ours there 0, benefit 1000000 ppm",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := play(t, tt.commands)
			found := false
			for _, line := range out {
				found = found || line == tt.want
			}
			if !found {
				t.Errorf("missing: %s\ngot %q", tt.want, out[max(0, len(out)-2):])
			}
		})
	}
}
