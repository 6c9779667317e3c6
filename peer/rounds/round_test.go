package rounds_test

import (
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/rounds"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// spec is a job in a shape of so many CPUs.
func spec(job protocol.JobID, cpus int) protocol.Spec {
	return protocol.Spec{Request: protocol.Request{Job: job, CPUs: cpus, WallTime: protocol.Hour}}
}

// waits are quotes for rows, in seconds of wait and of an hour's run; -1: declined.
func waits(r *rounds.Round, seconds ...int) (out []protocol.Quote) {
	for i, n := range seconds {
		q := protocol.Quote{Job: r.Specs[i].Job, AWT: protocol.Duration(n) * protocol.Second, ERT: protocol.Hour}
		if n < 0 {
			q = protocol.Quote{Job: q.Job, Declined: "too busy"}
		}
		out = append(out, q)
	}
	return out
}

func at(site protocol.SiteName) *partner.Partner { return partner.New(rules.Partner{Site: site}) }

// three is a round of the jobs 1, 2 in two shapes, and 3; b was asked about all rows and c about
// those of the jobs 1 and 3. Nobody has answered but the own site.
func three() (r *rounds.Round, b, c *rounds.Ask) {
	r = &rounds.Round{ID: 7, Specs: []protocol.Spec{spec(1, 4), spec(2, 2), spec(2, 8), spec(3, 1)}, HomeDone: true}
	r.Home = waits(r, 60, -1, 30, 0)
	b = &rounds.Ask{Partner: at("b"), Jobs: []int{0, 1, 2, 3}}
	c = &rounds.Ask{Partner: at("c"), Jobs: []int{0, 3}}
	r.Asks = []*rounds.Ask{b, c}
	return r, b, c
}

func TestRowsOfAJob(t *testing.T) {
	t.Parallel()
	r, _, _ := three()
	for i, want := range map[int]int{0: 1, 1: 3, 3: 4} {
		if got := r.End(i); got != want {
			t.Errorf("the job of row %d ends at %d, want %d", i, got, want)
		}
	}
	shapes := []protocol.Shape{{CPUs: 2}, {CPUs: 8}}
	for row, want := range map[int]int{1: 0, 2: 1, 3: 0} {
		if got := r.Shape(row, shapes); got != want {
			t.Errorf("row %d is in shape %d, want %d", row, got, want)
		}
	}
	if got := r.Shape(2, nil); got != 0 {
		t.Errorf("a rigid job is in shape %d", got)
	}
	r.Keep(func(row int) bool { return row != 1 && row != 3 })
	if len(r.Specs) != 2 || r.Specs[1].CPUs != 8 || len(r.Home) != 2 || r.Home[1].AWT != 30*protocol.Second {
		t.Errorf("left are %+v and %+v", r.Specs, r.Home)
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	r, b, c := three()
	if r.AskOf(b.Partner) != b || r.AskOf(c.Partner) != c || r.AskOf(at("b")) != nil {
		t.Error("what a partner was asked is not found, or that of another of its name is")
	}
	if r.Complete() || !b.Waits() {
		t.Error("complete without answers")
	}
	wantReplies(t, r, 0, 2, "b", "c")
	if err := r.Take(b, protocol.QuoteReply{Quotes: waits(r, 10, 20, -1, 5)}); err != nil || b.Waits() {
		t.Fatalf("the answer counts not: %v", err)
	}
	if r.Complete() {
		t.Error("complete with one of two answers")
	}
	c.Missed = true
	if !r.Complete() {
		t.Error("an answer is waited for that is missed")
	}
	if r.HomeDone = false; r.Complete() {
		t.Error("complete without the own site")
	}
	wantReplies(t, r, 0, 2, "c")
	wantReplies(t, r, 1, 1)
	for _, c.Jobs = range [][]int{{1}, {2}, {0, 2}, {1, 3}} { // in one of the shapes of job 2
		wantReplies(t, r, 1, 2, "c")
		wantReplies(t, r, 2, 2, "c")
	}
	c.Jobs = []int{2}
	wantReplies(t, r, 0, 1)
	wantReplies(t, r, 3, 1)
	b.Arrived = true // of a trial
	wantReplies(t, r, 1, 1, "c")
	wantReplies(t, r, 3, 0)
}

func wantReplies(t *testing.T, r *rounds.Round, row, asked int, silent ...string) {
	t.Helper()
	if n, names := r.Replies(row); n != asked || !slices.Equal(names, silent) {
		t.Errorf("%d partners are asked about the job of row %d, and %v are silent; want %d, %v", n, row, names, asked, silent)
	}
}

func TestAnswersThatDoNotCount(t *testing.T) {
	t.Parallel()
	for name, quotes := range map[string][]protocol.Quote{
		"too few":          {{Job: 1}},
		"too many":         {{Job: 1}, {Job: 3}, {Job: 3}},
		"in another order": {{Job: 3}, {Job: 1}},
		"of another job":   {{Job: 1}, {Job: 2}},
	} {
		r, _, c := three()
		if err := r.Take(c, protocol.QuoteReply{Quotes: quotes}); err == nil || c.Reply != nil || !c.Missed {
			t.Errorf("%s: %v, %+v", name, err, c)
		}
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	r, b, c := three()
	if err := r.Take(c, protocol.QuoteReply{Quotes: []protocol.Quote{{Job: 1, AWT: 7}, {Job: 3, AWT: 9}}}); err != nil {
		t.Fatal(err)
	}
	if got := r.Quote(3, c); got.AWT != 9 {
		t.Errorf("c quoted %+v", got)
	}
	if got := c.Quote(1); got.Declined != rounds.NotAsked || c.Asked(1) || !c.Asked(3) {
		t.Errorf("c was not asked about row 1: %+v", got)
	}
	if got := b.Quote(0); got.Declined != "no answer in time" {
		t.Errorf("b has not answered: %+v", got)
	}
	for site, want := range map[protocol.SiteName]protocol.Duration{"c": 7, "a": 60 * protocol.Second, "d": 60 * protocol.Second} {
		if got := r.QuoteOf(0, site); got.AWT != want {
			t.Errorf("%s quoted %+v, want %d", site, got, want)
		}
	}
	if got := r.Quote(0, nil); got.AWT != 60*protocol.Second {
		t.Errorf("the own site quoted %+v", got)
	}
}

func TestTakers(t *testing.T) {
	t.Parallel()
	r, b, c := three()
	for i, want := range map[int]int{0: 1, 1: 1, 3: 1} {
		if got := r.Takers(i); got != want {
			t.Errorf("before answers %d sites take the job of row %d, want %d", got, i, want)
		}
	}
	_ = r.Take(b, protocol.QuoteReply{Quotes: waits(r, -1, 20, 30, 5)})
	_ = r.Take(c, protocol.QuoteReply{Quotes: []protocol.Quote{{Job: 1}, {Job: 3}}})
	for i, want := range map[int]int{0: 2, 1: 2, 3: 3} {
		if got := r.Takers(i); got != want {
			t.Errorf("%d sites take the job of row %d, want %d", got, i, want)
		}
	}
}

func TestStayHome(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cpus  []int
		waits []int
		free  int
		want  []int
	}{
		"below φ":                         {[]int{1, 1, 1}, []int{59, 60, 61}, 9, []int{0}},
		"not where it is declined":        {[]int{1, 1}, []int{-1, 0}, 9, []int{1}},
		"the first one needs no free CPU": {[]int{8, 1}, []int{0, 0}, 4, []int{0}},
		"the others share what is free":   {[]int{2, 3, 2, 1}, []int{0, 0, 0, 0}, 4, []int{0, 2}},
		"nothing":                         {[]int{1}, []int{60}, 9, nil},
	} {
		r := &rounds.Round{}
		for i, n := range c.cpus {
			r.Specs = append(r.Specs, spec(protocol.JobID(i+1), n))
		}
		r.Home = waits(r, c.waits...)
		if got := r.StayHome(protocol.Minute, c.free); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
