package partner_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Eight jobs are enough to doubt a partner, if at least half of them did not go as it said.
func TestJudge(t *testing.T) {
	t.Parallel()
	repeat := func(n int, what row.Conduct) []row.Conduct { return slices.Repeat([]row.Conduct{what}, n) }
	tests := map[string]struct {
		jobs []row.Conduct
		at   []int // of which job on the partner is, or is no more, in doubt
	}{
		"all kept":             {repeat(40, row.Kept), nil},
		"all late":             {repeat(20, row.Late), []int{7}},
		"seven late":           {repeat(7, row.Late), nil},
		"all refused":          {repeat(9, row.Refused), []int{7}},
		"half, the newer ones": {append(repeat(4, row.Kept), repeat(4, row.Returned)...), []int{7}},
		"half, the older ones": {append(repeat(4, row.Returned), repeat(4, row.Kept)...), nil},
		"less than half":       {slices.Repeat([]row.Conduct{row.Kept, row.Kept, row.Returned}, 10), nil},
		"and then it is well":  {append(repeat(8, row.Late), repeat(12, row.Kept)...), []int{7, 13}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := connected()
			var changed []int
			for i, what := range tt.jobs {
				news, save := p.Judge(what, now, 500)
				if !news {
					continue
				}
				changed = append(changed, i)
				if !save || p.Row.Quality.Probe != now+500 {
					t.Errorf("job %d: saved %v, next probe at %d", i, save, p.Row.Quality.Probe)
				}
				if text := p.QualityText(); strings.HasPrefix(text, "asked last, since of the latest jobs") != p.Row.Quality.Doubtful ||
					!p.Row.Quality.Doubtful && text != "it keeps its quotes again" {
					t.Errorf("job %d: %q", i, text)
				}
			}
			if !slices.Equal(changed, tt.at) {
				t.Errorf("the judgement changes with jobs %v, want %v; weights %v", changed, tt.at, p.Row.Quality.Weights)
			}
		})
	}
}

// What was seen fades: after many jobs it weighs as sixteen, and the oldest least.
func TestJudgeFades(t *testing.T) {
	t.Parallel()
	p := connected()
	p.Judge(row.Late, now, 0)
	p.Judge(row.Kept, now, 0)
	if w := p.Row.Quality.Weights; w[row.Late] != 1000-1000/16 || w[row.Kept] != 1000 {
		t.Errorf("weights %v", w)
	}
	for range 500 {
		p.Judge(row.Kept, now, 0)
	}
	if all := p.Row.Quality.Total(); all < 15_900 || all > 16_100 {
		t.Errorf("all jobs weigh %d", all)
	}
}

// The row is written once a minute for what was seen alone.
func TestJudgeSaves(t *testing.T) {
	t.Parallel()
	p := connected()
	for _, tt := range []struct {
		at   protocol.Instant
		want bool
	}{{now, true}, {now + 59_999, false}, {now + 60_000, true}, {now + 60_001, false}, {now + 120_000, true}} {
		if _, save := p.Judge(row.Kept, tt.at, 0); save != tt.want {
			t.Errorf("at %d: saved %v", tt.at, save)
		}
	}
}

func TestLateAfter(t *testing.T) {
	t.Parallel()
	if got := partner.LateAfter(protocol.Hour); got != 3*protocol.Hour+10*protocol.Minute {
		t.Errorf("a job that was quoted an hour is late after %s", got.Text())
	}
}

func TestFailedAtOnce(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		state protocol.State
		ran   protocol.Duration
		limit protocol.Duration
		want  bool
	}{
		"failed at once":       {protocol.Failed, 4999, 10 * protocol.Minute, true},
		"its node failed":      {protocol.NodeFail, 0, 10 * protocol.Minute, true},
		"after a while":        {protocol.Failed, 5000, 10 * protocol.Minute, false},
		"a short job":          {protocol.Failed, 0, 10*protocol.Minute - 1, false},
		"completed at once":    {protocol.Completed, 0, 10 * protocol.Minute, false},
		"cancelled by someone": {protocol.Cancelled, 0, 10 * protocol.Minute, false},
	}
	for name, tt := range tests {
		p := connected()
		spec := protocol.Spec{Request: protocol.Request{WallTime: tt.limit, PowerClass: 9}}
		if p.FailedAtOnce(&spec, tt.state, tt.ran) != tt.want {
			t.Errorf("%s: %v", name, !tt.want)
		}
		if p.FailedAtOnce(&spec, tt.state, tt.ran) {
			t.Errorf("%s: the same fault counts twice", name)
		}
	}
}

// Sixteen faults are remembered; what is older counts again.
func TestFailuresAreForgotten(t *testing.T) {
	t.Parallel()
	p := connected()
	fails := func(like uint64) bool {
		return p.FailedAtOnce(&protocol.Spec{Request: protocol.Request{WallTime: protocol.Hour, PowerClass: like}}, protocol.Failed, 0)
	}
	for like := range uint64(17) {
		if !fails(like) {
			t.Errorf("kind %d does not count", like)
		}
	}
	if fails(1) || !fails(0) || len(p.Row.Quality.Failures) != 16 {
		t.Errorf("remembered: %v", p.Row.Quality.Failures)
	}
}

func TestProbed(t *testing.T) {
	t.Parallel()
	p := connected()
	p.Row.Quality.Probe = now
	if p.Probed(now-1) || !p.Probed(now) {
		t.Error("a doubtful partner is not asked from its instant on")
	}
	if p.Asked(now, 500); !p.Probed(now) {
		t.Error("a partner that keeps its quotes has to wait")
	}
	p.Row.Quality.Doubtful = true
	if p.Asked(now, 500); p.Probed(now+499) || !p.Probed(now+500) {
		t.Error("a doubtful partner is not asked once a pause")
	}
	if p.JobsThere = 1; p.Probed(now + 500) {
		t.Error("a doubtful partner gets a second job")
	}
}
