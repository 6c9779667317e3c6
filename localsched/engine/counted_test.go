package engine_test

import (
	"flag"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// twoKinds is a machine of two groups, one of which has GPUs of two types.
func twoKinds(whole bool) protocol.Capacity {
	return protocol.Capacity{
		CPUs: 40, Nodes: 5, NodeCPUs: 8, WholeNode: whole, Exclusive: true,
		Groups: []protocol.NodeGroup{
			{Nodes: 3, CPUs: 8, Features: []string{"slow"}},
			{Nodes: 2, CPUs: 8, Features: []string{"fast"}, Resources: []protocol.Resource{
				{Name: "gpu", Type: "a100", Count: 4}, {Name: "gpu", Type: "v100", Count: 1},
			}},
		},
		Shared: []protocol.Resource{{Name: "license", Type: "abaqus", Count: 3}},
	}
}

func gpus(kind string, count int, per protocol.Per) protocol.Resource {
	return protocol.Resource{Name: protocol.GPU, Type: kind, Count: count, Per: per}
}

func TestCountedUnits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		whole      bool
		cpus       int
		features   string
		exclusive  bool
		resources  []protocol.Resource
		want       int
		wantReason string
	}{
		{"plain", false, 9, "", false, nil, 9, ""},
		{"a GPU", false, 1, "", false, []protocol.Resource{gpus("", 1, protocol.PerJob)}, 1, ""},
		{"more CPUs than the nodes with GPUs have", false, 17, "", false, []protocol.Resource{gpus("", 1, protocol.PerJob)}, 0, "needs 17 CPUs on nodes with all"},
		{"more GPUs than there are of one type", false, 1, "", false, []protocol.Resource{gpus("", 9, protocol.PerJob)}, 0, "of one type"},
		{"a type that is rare", false, 1, "", false, []protocol.Resource{gpus("v100", 3, protocol.PerJob)}, 0, "needs 3 gpu:v100"},
		{"licenses", false, 40, "", false, []protocol.Resource{{Name: "license", Type: "abaqus", Count: 3, Per: protocol.PerJob}}, 40, ""},
		{"a feature", false, 16, "fast", false, nil, 16, ""},
		{"more CPUs than nodes with the feature have", false, 17, "fast", false, nil, 0, "CPUs on nodes with fast"},
		{"nodes of its own", false, 9, "", true, nil, 16, ""},
		{"GPUs make nodes", true, 1, "", false, []protocol.Resource{gpus("a100", 8, protocol.PerJob)}, 2, ""},
		{"GPUs of each node", true, 16, "", false, []protocol.Resource{gpus("a100", 4, protocol.PerNode)}, 2, ""},
	} {
		capacity := twoKinds(c.whole)
		units, reason := engine.Of(capacity).Units(protocol.Request{
			CPUs: c.cpus, Features: c.features, Exclusive: c.exclusive, Resources: c.resources, WallTime: 1,
		})
		if units != c.want || !strings.Contains(reason, c.wantReason) || (reason == "") != (c.want > 0) {
			t.Errorf("%s: %d units, reason %q, want %d, %q", c.name, units, reason, c.want, c.wantReason)
		}
	}
}

// TestCountedEASY: the head waits for a GPU; behind it those start that leave its GPU and its CPUs
// alone, by number or because they are over in time.
func TestCountedEASY(t *testing.T) {
	t.Parallel()
	capacity := protocol.Capacity{CPUs: 8, Nodes: 1, Groups: []protocol.NodeGroup{
		{Nodes: 1, CPUs: 8, Resources: []protocol.Resource{{Name: "gpu", Count: 2}}},
	}}
	with := func(n, cpus, gpu int, time protocol.Duration) localsched.Queued {
		j := job(n, cpus, time)
		if gpu > 0 {
			j.Resources = []protocol.Resource{gpus("", gpu, protocol.PerJob)}
		}
		return j
	}
	r := newRig(t, engine.Of(capacity), engine.EASY())
	r.submit(with(0, 1, 1, 10), 10)
	r.submit(with(1, 4, 2, 10), 10) // the head, from 10 on
	r.submit(with(2, 1, 1, 11), 11) // would have the head's GPU
	r.submit(with(3, 1, 1, 9), 9)   // is over in time
	r.submit(with(4, 4, 0, 50), 50) // beside the head
	r.submit(with(5, 1, 0, 50), 50) // the same, until 60
	planned := r.engine.Plan(0, nil, []protocol.Request{with(6, 1, 2, 5).Request, with(7, 1, 0, 5).Request})
	r.drain()
	for n, want := range []protocol.Instant{0, 10, 20, 0, 0, 20} {
		if got := r.jobs[tag(n)].start; got != want {
			t.Errorf("job %d started at %d, want %d", n, got, want)
		}
	}
	if planned[0].Start != 31 || planned[1].Start != 0 {
		t.Errorf("planned %+v, want 31 and 0", planned)
	}
}

var draws = flag.Int("draws", 10_000, "jobs of TestNoQuoteWithoutResources")

// TestNoQuoteWithoutResources: what is quoted on a machine, whatever runs there, is on its nodes and
// among what it shares: in all, and on each node that the job needs. A machine without GPUs quotes
// no GPU job.
func TestNoQuoteWithoutResources(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(20, 1))
	names := engine.Names()
	var e *engine.Engine
	var capacity protocol.Capacity
	quoted, without := 0, 0
	for i := range *draws {
		if i%50 == 0 {
			capacity = randomCapacity(random)
			e = engine.New(engine.Of(capacity), named(t, names[random.IntN(len(names))]))
		}
		request := randomRequest(random)
		if random.IntN(4) == 0 {
			_, _ = e.Submit(protocol.Instant(i), localsched.Queued{Tag: tag(i), Request: request}) // most are refused
			continue
		}
		planned := e.Plan(protocol.Instant(i), nil, []protocol.Request{request})[0]
		if planned.Declined == "" {
			quoted++
			if lacking := lacks(&capacity, &request); lacking != "" {
				t.Fatalf("draw %d: %+v has no %s and quotes %+v", i, capacity, lacking, request)
			}
		} else if lacks(&capacity, &request) != "" {
			without++
		}
	}
	if quoted < *draws/20 || without < *draws/20 {
		t.Errorf("%d quotes and %d without what was asked for of %d draws: too few to mean anything", quoted, without, *draws)
	}
}

func randomCapacity(random *rand.Rand) protocol.Capacity {
	c := protocol.Capacity{WholeNode: random.IntN(2) == 0, NodeCPUs: 8}
	for range 1 + random.IntN(3) {
		g := protocol.NodeGroup{Nodes: 1 + random.IntN(3), CPUs: 8}
		for _, kind := range []string{"", "a100", "v100"} {
			if random.IntN(4) == 0 {
				g.Resources = append(g.Resources, protocol.Resource{Name: protocol.GPU, Type: kind, Count: 1 + random.IntN(4)})
			}
		}
		if random.IntN(2) == 0 {
			g.Features = []string{"fast"}
		}
		c.Groups = append(c.Groups, g)
		c.Nodes += g.Nodes
	}
	c.CPUs = 8 * c.Nodes
	return c
}

func randomRequest(random *rand.Rand) protocol.Request {
	r := protocol.Request{CPUs: 1 + random.IntN(16), WallTime: protocol.Duration(1 + random.IntN(20)), Nodes: random.IntN(3)}
	if random.IntN(4) > 0 {
		kind := []string{"", "a100", "v100"}[random.IntN(3)]
		r.Resources = []protocol.Resource{gpus(kind, 1+random.IntN(4), protocol.PerNode+protocol.Per(random.IntN(3)))}
	}
	if random.IntN(3) == 0 {
		r.Features = "fast"
	}
	return r
}

// lacks is what a machine has too few of for a job, in all or on one node.
func lacks(c *protocol.Capacity, r *protocol.Request) string {
	fast := 0
	for i := range c.Groups {
		if c.Groups[i].Has("fast") {
			fast += c.Groups[i].Nodes
		}
	}
	if r.Features != "" && fast < max(1, r.Nodes) {
		return "node with the feature"
	}
	for _, asked := range r.Resources {
		all, most := 0, 0
		for _, g := range c.Groups {
			on := 0
			for _, one := range g.Resources {
				if asked.Type == "" || asked.Type == one.Type {
					on += one.Count
				}
			}
			all, most = all+g.Nodes*on, max(most, on)
		}
		if asked.Per == protocol.PerNode && most < asked.Count || all < asked.Count {
			return asked.Kind()
		}
	}
	return ""
}

// TestSweepExtras: quotes for ever new counts do not change what jobs that run and wait hold.
func TestSweepExtras(t *testing.T) {
	t.Parallel()
	capacity := protocol.Capacity{CPUs: 8, Nodes: 1, Groups: []protocol.NodeGroup{
		{Nodes: 1, CPUs: 8, Resources: []protocol.Resource{{Name: "slot", Count: 20_000}}},
	}}
	slots := func(n, count int) localsched.Queued {
		j := job(n, 1, 10)
		j.Resources = []protocol.Resource{{Name: "slot", Count: count, Per: protocol.PerJob}}
		return j
	}
	r := newRig(t, engine.Of(capacity), engine.EASY())
	r.submit(slots(0, 15_000), 10)
	r.submit(slots(1, 10_000), 10)
	for count := range 10_000 {
		start := r.engine.Plan(0, nil, []protocol.Request{slots(2, 10_001+count).Request})[0].Start
		if start != 20 {
			t.Fatalf("%d slots are quoted for %d, want 20", 10_001+count, start)
		}
	}
	r.drain()
	if got := r.jobs[tag(1)].start; got != 10 {
		t.Errorf("the job that waited started at %d, want 10", got)
	}
}

// TestLicensesAlone: a machine whose nodes are alike counts the licenses of the whole.
func TestLicensesAlone(t *testing.T) {
	t.Parallel()
	m := engine.Of(protocol.Capacity{CPUs: 8, Nodes: 1, NodeCPUs: 8, Shared: []protocol.Resource{{Name: protocol.License, Type: "solver", Count: 2}}})
	asks := func(n int) protocol.Request {
		return protocol.Request{CPUs: 1, WallTime: 1, Resources: []protocol.Resource{protocol.NewLicense("solver", n)}}
	}
	if units, reason := m.Units(asks(2)); units != 1 || reason != "" {
		t.Errorf("two licenses: %d units, %q", units, reason)
	}
	if _, reason := m.Units(asks(3)); !strings.Contains(reason, "license:solver") {
		t.Errorf("three licenses: %q", reason)
	}
}
