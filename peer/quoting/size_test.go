package quoting_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/quoting"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestRequestFits(t *testing.T) {
	t.Parallel()
	many := func(n, user int) []protocol.Spec {
		return slices.Repeat([]protocol.Spec{{User: strings.Repeat("u", user)}}, n)
	}
	for name, c := range map[string]struct {
		first, then []protocol.Spec
		predicted   bool
		want        bool
	}{
		"a few":                        {many(1, 0), many(2, 0), false, true},
		"as many rows as it holds":     {many(16383, 0), many(1, 0), false, true},
		"one row more":                 {many(16384, 0), many(1, 0), false, false},
		"as many bytes as it holds":    {many(1, 3<<20-200), many(1, 0), false, true},
		"one byte more":                {many(1, 3<<20-199), many(1, 0), false, false},
		"what is predicted takes some": {many(1, 3<<20-200), many(1, 0), true, false},
		"alone it always fits":         {nil, many(16385, 0), false, true},
		"alone, however large":         {nil, many(1, 4<<20), false, true},
	} {
		var r quoting.Request
		if len(c.first) > 0 && !r.Fits(c.first, c.predicted) {
			t.Errorf("%s: the first rows do not fit", name)
		}
		if got := r.Fits(c.then, c.predicted); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestRequestGoesOn: rows that do not fit leave their room to smaller ones only as far as they
// took none.
func TestRequestGoesOn(t *testing.T) {
	t.Parallel()
	var r quoting.Request
	row := func(user int) []protocol.Spec { return []protocol.Spec{{User: strings.Repeat("u", user)}} }
	if !r.Fits(row(0), false) || r.Fits(row(3<<20), false) {
		t.Fatal("the first row fits, and a very large one does not")
	}
	if r.Fits(row(0), false) {
		t.Error("jobs younger than one that did not fit have its place")
	}
}

func TestRequestBytes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spec      protocol.Spec
		predicted bool
		want      int
	}{
		"numbers":      {protocol.Spec{}, false, 100},
		"a user":       {protocol.Spec{User: "ada"}, false, 103},
		"a prediction": {protocol.Spec{}, true, 150},
		"results":      {protocol.Spec{DataOut: 1}, false, 150},
		"a priority":   {protocol.Spec{Association: protocol.Association{QOS: "high"}}, false, 154},
		"sites":        {protocol.Spec{Sites: []protocol.SiteName{"a", "bc"}}, false, 109},
		"licenses":     {protocol.Spec{Request: protocol.Request{Resources: []protocol.Resource{protocol.NewLicense("x", 1), protocol.NewLicense("yz", 2)}}}, false, 157},
	} {
		if got := quoting.RequestBytes(&c.spec, c.predicted); got != c.want {
			t.Errorf("%s: %d bytes, want %d", name, got, c.want)
		}
	}
}

func TestTooLargeReason(t *testing.T) {
	t.Parallel()
	jobs := func(n, shapes, user int) []protocol.Job {
		one := protocol.Job{Spec: protocol.Spec{Sites: []protocol.SiteName{protocol.SiteName(strings.Repeat("s", user))}}}
		one.Component.Shapes = make([]protocol.Shape, shapes)
		return slices.Repeat([]protocol.Job{one}, n)
	}
	for name, c := range map[string]struct {
		user string
		jobs []protocol.Job
		want string
	}{
		"small":        {"ada", jobs(100, 3, 0), ""},
		"all its rows": {"", jobs(16384, 0, 0), ""},
		"a row more": {"", jobs(16385, 0, 0), "the application has 16385 components in 16385 shapes, which sites are asked about at once, " +
			"in 2506905 bytes; at most 16384 and 3145728 are possible: make several applications of it"},
		"shapes are rows": {"", jobs(8193, 1, 0), "the application has 8193 components in 16386 shapes"},
		"all its bytes":   {"", jobs(1, 0, 3<<20-153), ""},
		"a byte more":     {"", jobs(1, 0, 3<<20-152), "the application has 1 components in 1 shapes, which sites are asked about at once, in 3145729 bytes"},
		"with its user":   {"u", jobs(1, 0, 3<<20-153), "the application has 1 components"},
		"in each shape":   {"", jobs(1, 1, 3<<19-152), "the application has 1 components in 2 shapes"},
	} {
		got := quoting.TooLargeReason(c.user, c.jobs)
		if !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestNote(t *testing.T) {
	t.Parallel()
	if got := quoting.Note(&protocol.Quote{Note: "soon"}); got != "soon" {
		t.Errorf("%q", got)
	}
	if got := quoting.Note(&protocol.Quote{Note: "soon", Declined: "no"}); got != "" {
		t.Errorf("of a declined one %q", got)
	}
	if got := quoting.Note(&protocol.Quote{Note: strings.Repeat("n", 300)}); got != strings.Repeat("n", 240)+"…" {
		t.Errorf("of a long one %d bytes", len(got))
	}
}

func TestTruncated(t *testing.T) {
	t.Parallel()
	reply := func(n int, q protocol.Quote) (out protocol.QuoteReply) {
		for i := range n {
			q.Job = protocol.JobID(i + 1)
			out.Quotes = append(out.Quotes, q)
		}
		return quoting.Truncated(out)
	}
	long := strings.Repeat("w", 3000)
	if got := reply(64, protocol.Quote{Declined: long, Note: "n"}).Quotes[63]; len(got.Declined) != 2048+len("…") || got.Note != "n" {
		t.Errorf("of few jobs: a reason of %d bytes, the note %q", len(got.Declined), got.Note)
	}
	if got := reply(65, protocol.Quote{Declined: long, Note: "n"}).Quotes[64]; len(got.Declined) != 160+len("…") || got.Note != "" {
		t.Errorf("of many jobs: a reason of %d bytes, the note %q", len(got.Declined), got.Note)
	}
	// 14 KB a quote: of 300 jobs 3.5 MiB hold 261.
	terms := slices.Repeat([]protocol.Term{{Name: strings.Repeat("t", 44)}}, 218)
	got := reply(300, protocol.Quote{Terms: terms, Currency: "EUR"})
	kept := 0
	for i, q := range got.Quotes {
		if q.Job != protocol.JobID(i+1) {
			t.Fatalf("quote %d is for job %d", i, q.Job)
		}
		switch {
		case q.Declined == "":
			kept++
		case q.Declined != "too many jobs for one reply" || q.Terms != nil:
			t.Fatalf("quote %d: %+v", i, q)
		}
	}
	if each := 83 + 218*64; kept != (7<<19-(300-262)*64)/each {
		t.Errorf("%d quotes fit, want %d", kept, (7<<19-(300-262)*64)/each)
	}
}

func TestDeclined(t *testing.T) {
	t.Parallel()
	got := quoting.Declined(protocol.QuoteRequest{Round: 7, Jobs: make([]protocol.Spec, 2)}, "no")
	if got.Round != 7 || len(got.Quotes) != 2 || got.Quotes[1].Declined != "no" {
		t.Errorf("%+v", got)
	}
}
