package rounds_test

import (
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/rounds"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const now = protocol.Instant(1000)

func TestExclusions(t *testing.T) {
	t.Parallel()
	var x rounds.Exclusions
	x.Allow("b") // that nobody excluded
	if x.Excludes("b", now) || x.Rejected("b") != 0 {
		t.Fatal("nobody is excluded, and b is")
	}
	x.Exclude("b", now+10)
	x.Exclude("c", now+10)
	x.Allow("c")
	if !x.Excludes("b", now+9) || x.Excludes("b", now+10) || x.Excludes("c", now) {
		t.Error("b is not excluded until the instant, or c is")
	}
	x.PutOff(5)
	if x.Explain("b", "no right"); x.Reason("b", now) != "left out for a while: no right" || x.Reason("b", now+15) != "" || x.Reason("c", now) != "" {
		t.Errorf("%q", x.Reason("b", now))
	}
	if x.Exclude("b", now+15); x.Reason("b", now) != "" {
		t.Error("a reason outlives what it is of")
	}
	if !x.Excludes("b", now+14) || x.Excludes("b", now+15) {
		t.Error("the clock was set by 5, and the end is not as much later")
	}
	x.Reject("b", 3)
	x.Reject("c", 4)
	x.Reject("b", 7)
	if x.Rejected("b") != 7 || x.Rejected("c") != 4 {
		t.Errorf("rejected were %d and %d", x.Rejected("b"), x.Rejected("c"))
	}
}

// scene is a round of two jobs with the partners b and c, who may be asked about both, and volunteer.
type scene struct {
	asking  rounds.Asking
	jobs    []rounds.Job
	b, c    *partner.Partner
	home    bool // the own site takes the jobs
	homeAsk int
}

func newScene() *scene {
	s := &scene{}
	partnerOf := func(site protocol.SiteName) *partner.Partner {
		p := at(site)
		p.Linked = true
		p.Card = &protocol.Card{Capacity: protocol.Capacity{CPUs: 8, Nodes: 1}}
		p.Volunteer = partner.Volunteering{Number: 1, Until: now + 1, AnyNumber: true}
		return p
	}
	s.b, s.c = partnerOf("b"), partnerOf("c")
	r := &rounds.Round{Specs: []protocol.Spec{spec(1, 4), spec(2, 4)}, Reach: make([]rounds.Reach, 2)}
	r.Home = waits(r, 60, 60)
	for i := range r.Specs {
		s.jobs = append(s.jobs, rounds.Job{Row: &row.Job{Spec: r.Specs[i]}, Excluded: &rounds.Exclusions{}})
	}
	s.asking = rounds.Asking{
		Round: r, Partners: []*partner.Partner{s.b, s.c}, Now: now,
		Job:       func(row int) rounds.Job { return s.jobs[row] },
		HomeTakes: func(int) bool { s.homeAsk++; return s.home },
	}
	return s
}

// doubt makes a partner doubtful, and says whether it gets a job to show that it has changed.
func doubt(p *partner.Partner, probed bool) {
	p.Row.Quality.Doubtful, p.Row.Quality.Probe = true, now
	if !probed {
		p.Row.Quality.Probe = now + 1
	}
}

func TestAsks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(s *scene)
		asks   []int  // rows that b is asked about
		why    string // it is not asked about row 0
	}{
		"about all":                      {func(*scene) {}, []int{0, 1}, rounds.NotAsked},
		"not about a job that has ended": {func(s *scene) { s.jobs[0].Row = nil }, []int{1}, rounds.NotAsked},
		"not by its card":                {func(s *scene) { s.asking.Round.Specs[0].CPUs = 9 }, []int{1}, "needs 9 CPUs, the site has 8"},
		"not where it holds no room": {
			func(s *scene) { s.jobs[0].Row.Component = &protocol.Component{Together: 1} },
			[]int{1},
			"cannot hold room for components that start together (capability reserve)",
		},
		"not where it is excluded": {func(s *scene) { s.jobs[0].Excluded.Exclude("b", now+1) }, []int{1}, rounds.TriedInVain},
		"where another one is":     {func(s *scene) { s.jobs[0].Excluded.Exclude("c", now+1) }, []int{0, 1}, rounds.NotAsked},
		"as a volunteer":           {func(s *scene) { s.asking.Round.Reach[0] = rounds.Volunteers }, []int{0, 1}, rounds.NotAsked + ", since it does not volunteer for it"},
		"not as one that has lost": {func(s *scene) {
			s.asking.Round.Reach[0] = rounds.Volunteers
			s.jobs[0].Excluded.Reject("b", 1)
		}, []int{1}, rounds.NotAsked + ", since it does not volunteer for it"},
		"about as many as it volunteers for": {func(s *scene) {
			s.asking.Round.Reach[0], s.asking.Round.Reach[1], s.b.Volunteer.Left = rounds.Volunteers, rounds.Volunteers, 1
			s.b.Volunteer.AnyNumber = false
		}, []int{0}, rounds.NotAsked + ", since it does not volunteer for it"},
		"and others that everybody is asked about": {func(s *scene) {
			s.asking.Round.Reach[0], s.b.Volunteer.Left = rounds.Volunteers, 1
			s.b.Volunteer.AnyNumber = false
		}, []int{0, 1}, rounds.NotAsked + ", since it does not volunteer for it"},
		"two are as many": {func(s *scene) {
			s.asking.Round.Reach[0], s.asking.Round.Reach[1], s.b.Volunteer.Left = rounds.Volunteers, rounds.Volunteers, 2
			s.b.Volunteer.AnyNumber = false
		}, []int{0, 1}, rounds.NotAsked + ", since it does not volunteer for it"},
		"not as a doubtful one":                     {func(s *scene) { doubt(s.b, false) }, nil, rounds.NotAsked + ", since it does not keep its quotes"},
		"one job that shows whether it has changed": {func(s *scene) { doubt(s.b, true) }, []int{0}, rounds.NotAsked + ", since it does not keep its quotes"},
		"people who ask see it": {func(s *scene) {
			doubt(s.b, false)
			s.asking.Question = true
		}, []int{0, 1}, rounds.NotAsked + ", since it does not keep its quotes"},
		"nobody else could run them": {func(s *scene) {
			doubt(s.b, false)
			s.c.Linked = false
		}, []int{0, 1}, rounds.NotAsked + ", since it does not keep its quotes"},
		"the own site could": {func(s *scene) {
			doubt(s.b, false)
			s.c.Linked, s.home = false, true
		}, nil, rounds.NotAsked + ", since it does not keep its quotes"},
		"others are in doubt, too": {func(s *scene) {
			doubt(s.b, false)
			doubt(s.c, false)
		}, []int{0, 1}, rounds.NotAsked + ", since it does not keep its quotes"},
		"another one is excluded": {func(s *scene) {
			doubt(s.b, false)
			s.jobs[1].Excluded.Exclude("c", now+1)
		}, []int{1}, rounds.NotAsked + ", since it does not keep its quotes"},
		"another one is too small": {func(s *scene) {
			doubt(s.b, false)
			s.c.Card.Capacity.CPUs = 3
		}, []int{0, 1}, rounds.NotAsked + ", since it does not keep its quotes"},
	} {
		s := newScene()
		c.change(s)
		if got := s.asking.Rows(s.b); !slices.Equal(got, c.asks) {
			t.Errorf("%s: asked about %v, want %v", name, got, c.asks)
		}
		if got := s.asking.Wanted(s.b); got != (len(c.asks) > 0) {
			t.Errorf("%s: wanted is %v", name, got)
		}
		if got := s.asking.UnaskedReason(0, s.b); got != c.why {
			t.Errorf("%s: %q, want %q", name, got, c.why)
		}
	}
	s := newScene()
	s.asking.Rows(s.b)
	if s.homeAsk != 0 {
		t.Error("the own site is asked about jobs of a partner that is not in doubt")
	}
}

func TestReachOfARow(t *testing.T) {
	t.Parallel()
	noVolunteer := func(s *scene) { s.b.Volunteer, s.c.Volunteer = partner.Volunteering{}, partner.Volunteering{} }
	for name, c := range map[string]struct {
		change func(s *scene)
		want   rounds.Reach
	}{
		"volunteers":       {func(*scene) {}, rounds.Volunteers},
		"one is enough":    {func(s *scene) { s.b.Linked = false }, rounds.Volunteers},
		"none":             {noVolunteer, rounds.NoPartner},
		"declined at home": {func(s *scene) { s.asking.Round.Home[0].Declined = "no" }, rounds.AllPartners},
		"none is reached":  {func(s *scene) { s.b.Linked, s.c.Unresponsive = false, true }, rounds.NoPartner},
		"all have lost": {func(s *scene) {
			s.jobs[0].Excluded.Reject("b", 1)
			s.jobs[0].Excluded.Reject("c", 1)
		}, rounds.NoPartner},
		"all are excluded": {func(s *scene) {
			s.jobs[0].Excluded.Exclude("b", now+1)
			s.jobs[0].Excluded.Exclude("c", now+1)
		}, rounds.NoPartner},
		"all are too small": {func(s *scene) { s.jobs[0].Row.Spec.CPUs = 9 }, rounds.NoPartner},
		"in doubt, and the own site could": {func(s *scene) {
			doubt(s.b, false)
			doubt(s.c, false)
			s.home = true
		}, rounds.NoPartner},
		"in doubt, and nobody else could": {func(s *scene) {
			doubt(s.b, false)
			doubt(s.c, false)
		}, rounds.Volunteers},
	} {
		s := newScene()
		c.change(s)
		if got := s.asking.Reach(0, policy.Receiver, true); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
