package quoting_test

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/quoting"
	"github.com/switchyard-hpc/switchyard/protocol"
)

var machine = protocol.Capacity{CPUs: 64, Nodes: 1}

func onMachine(spec *protocol.Spec) protocol.Request { return spec.ScaledRequest(&machine) }

// quoted are jobs of so many CPUs, numbered from 1 on, and quotes for them; -1: it is declined.
func quoted(cpus ...int) (specs []protocol.Spec, quotes []protocol.Quote) {
	for i, n := range cpus {
		id := protocol.JobID(i + 1)
		q := protocol.Quote{Job: id, AWT: protocol.Duration(n) * protocol.Second}
		if n < 0 {
			q.Declined = "no"
		}
		specs = append(specs, protocol.Spec{Request: protocol.Request{Job: id, CPUs: n}})
		quotes = append(quotes, q)
	}
	return specs, quotes
}

func unmapped(*protocol.Spec) protocol.Association { return protocol.Association{} }

func TestMarginalWaits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cpus []int
		jobs int
		awts []int64 // of the quotes behind one, two … others, in seconds; -1: declined, -2: no quote
		want []int64
	}{
		"it rises":                        {[]int{4, 4, 4, 4}, 4, []int64{14, 19, 39}, []int64{10, 15, 35}},
		"it does not fall":                {[]int{4, 4, 4, 4}, 4, []int64{14, 9, 12}, []int64{10, 10, 10}},
		"less than the first is as much":  {[]int{4, 4, 4, 4}, 4, []int64{0, 0, 5}, []int64{0, 0, 1}},
		"as many as are asked for":        {[]int{4, 4, 4, 4}, 2, []int64{14, 19, 39}, []int64{10}},
		"as many as there are jobs":       {[]int{4, 4}, 64, []int64{14, 19, 39}, []int64{10}},
		"a declined one ends it":          {[]int{4, 4, 4, 4}, 4, []int64{14, -1, 39}, []int64{10}},
		"one that is no quote ends it":    {[]int{4, 4, 4, 4}, 4, []int64{14, -2, 39}, []int64{10}},
		"one job":                         {[]int{4}, 4, nil, nil},
		"nobody wants to know":            {[]int{4, 4}, 0, nil, nil},
		"one is known from its own quote": {[]int{4, 4}, 1, nil, nil},
		"nothing is taken":                {[]int{-1, -1}, 4, nil, nil},
	} {
		specs, quotes := quoted(c.cpus...)
		m, ok := quoting.FindMarginal(specs, quotes, c.jobs, 100, onMachine, unmapped)
		if ok != (c.want != nil) {
			t.Errorf("%s: there is something to be found: %v", name, ok)
		}
		for k := 0; ok; k++ {
			query, more := m.Next(nil, 0)
			if !more {
				break
			}
			if len(query.Ahead) != k+1 {
				t.Fatalf("%s: question %d has %d jobs ahead", name, k, len(query.Ahead))
			}
			answer := []protocol.Quote{{AWT: protocol.Duration(c.awts[k]) * protocol.Second}}
			switch c.awts[k] {
			case -1:
				answer[0].Declined = "no"
			case -2:
				answer = nil
			}
			ok = m.Take(answer)
		}
		var want []protocol.Duration
		for _, one := range c.want {
			want = append(want, protocol.Duration(one)*protocol.Second)
		}
		if got := m.Waits(); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// TestMarginalQuestion: it is about a job like the median one, behind what is claimed and others
// like it, under tags that no placement has.
func TestMarginalQuestion(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cpus []int
		want int
	}{
		"in their order":          {[]int{1, 2, 3}, 2},
		"in another":              {[]int{9, 1, 4}, 4},
		"of four the third":       {[]int{4, 3, 2, 1}, 3},
		"of those that are taken": {[]int{-9, 7, -9, 8, 5}, 7},
	} {
		specs, quotes := quoted(c.cpus...)
		long := func(one *protocol.Spec) protocol.Association {
			if one.CPUs != c.want {
				t.Errorf("%s: mapped is a job of %d CPUs", name, one.CPUs)
			}
			return protocol.Association{Partition: "long"}
		}
		m, ok := quoting.FindMarginal(specs, quotes, 4, 100, onMachine, long)
		claimed := []localsched.Tentative{{Tag: protocol.Tag{Job: 99, Epoch: 1}, Request: protocol.Request{CPUs: 3}}}
		query, more := m.Next(claimed, 99)
		if !ok || !more || len(query.Jobs) != 1 || query.Jobs[0].CPUs != c.want || query.Jobs[0].Job != 0 {
			t.Fatalf("%s: %v %v %+v", name, ok, more, query)
		}
		if len(query.Ahead) != 2 || !reflect.DeepEqual(query.Ahead[0], claimed[0]) || query.Ahead[1].Request.CPUs != c.want ||
			query.Ahead[1].Tag.Epoch != math.MaxUint32 || query.Ahead[1].Tag.Job != query.Ahead[1].Request.Job {
			t.Errorf("%s: ahead are %+v", name, query.Ahead)
		}
		if query.Association(0).Partition != "long" || query.Ahead[1].Association.Partition != "long" {
			t.Errorf("%s: asked without the association: %+v", name, query)
		}
		m.Take([]protocol.Quote{{}})
		if query, more = m.Next(nil, 99); !more || len(query.Ahead) != 2 || query.Ahead[1].Tag.Epoch != math.MaxUint32-1 {
			t.Errorf("%s: the second question is %+v", name, query)
		}
		if _, more = m.Next(nil, 100); more {
			t.Errorf("%s: asked when its time is over", name)
		}
	}
}

func TestMarginalBound(t *testing.T) {
	t.Parallel()
	specs, quotes := quoted(slices.Repeat([]int{1}, 2*protocol.MaxMarginalJobs)...)
	m, _ := quoting.FindMarginal(specs, quotes, 2*protocol.MaxMarginalJobs, 1, onMachine, unmapped)
	for {
		if _, more := m.Next(nil, 0); !more {
			break
		}
		m.Take([]protocol.Quote{{}})
	}
	if got := len(m.Waits()); got != protocol.MaxMarginalJobs-1 {
		t.Errorf("%d waits, want %d", got, protocol.MaxMarginalJobs-1)
	}
}
