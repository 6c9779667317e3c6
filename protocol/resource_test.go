package protocol_test

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/protocol"
	"github.com/switchyard-hpc/switchyard/protocol/protocoltest"
)

// mixed is a site of two kinds of nodes: four with two GPUs of one type each, and eight with
// none but another feature; and a pool of network cards for all.
func mixed() protocol.Capacity {
	return protocol.Capacity{
		CPUs: 4*16 + 8*32, Nodes: 12, NodeCPUs: 32, MemoryMB: 256_000, Exclusive: true,
		Groups: []protocol.NodeGroup{
			{Nodes: 4, CPUs: 16, MemoryMB: 256_000, Resources: []protocol.Resource{{Name: "gpu", Type: "a100", Count: 2}}, Features: []string{"ib", "zen3"}},
			{Nodes: 8, CPUs: 32, MemoryMB: 64_000, Features: []string{"ib", "skylake"}},
		},
		Shared: []protocol.Resource{{Name: "fpga", Count: 3}},
	}
}

func asks(change func(r *protocol.Request), list ...protocol.Resource) protocol.Request {
	r := protocol.Request{CPUs: 1, WallTime: protocol.Hour, Resources: list}
	if change != nil {
		change(&r)
	}
	return r
}

func gpus(kind string, count int, per protocol.Per) protocol.Resource {
	return protocol.Resource{Name: "gpu", Type: kind, Count: count, Per: per}
}

func TestFitsResourcesAndFeatures(t *testing.T) {
	t.Parallel()
	cpus := func(n int) func(*protocol.Request) { return func(r *protocol.Request) { r.CPUs = n } }
	constraint := func(s string) func(*protocol.Request) { return func(r *protocol.Request) { r.Features = s } }
	for _, c := range []struct {
		name string
		r    protocol.Request
		want string // the reason begins so; empty: it fits
	}{
		{"any GPU", asks(nil, gpus("", 1, protocol.PerNode)), ""},
		{"its type", asks(nil, gpus("a100", 2, protocol.PerNode)), ""},
		{"another type", asks(nil, gpus("h100", 1, protocol.PerNode)), "needs 1 gpu:h100, the site has none"},
		{"too many on a node", asks(nil, gpus("", 3, protocol.PerNode)), "needs 3 gpu, a node has 2"},
		{"all GPUs of the site", asks(cpus(4), gpus("", 8, protocol.PerJob)), ""},
		{"one more", asks(cpus(4), gpus("", 9, protocol.PerJob)), "needs 9 gpu, the site has 8"},
		{"one for each task", asks(func(r *protocol.Request) { r.CPUs, r.Layout.Tasks = 8, 8 }, gpus("", 1, protocol.PerTask)), ""},
		{"more tasks than GPUs", asks(func(r *protocol.Request) { r.CPUs, r.Layout.Tasks = 9, 9 }, gpus("", 1, protocol.PerTask)), "needs 9 gpu"},
		{"CPUs only beside GPUs", asks(cpus(65), gpus("", 1, protocol.PerNode)), "needs 65 CPUs on nodes with gpu, the site has 64"},
		{"nodes only beside GPUs", asks(func(r *protocol.Request) { r.CPUs, r.Nodes = 5, 5 }, gpus("", 1, protocol.PerNode)), "needs 5 nodes with gpu, the site has 4"},
		{
			"CPUs of one node", asks(func(r *protocol.Request) { r.CPUs, r.Layout.Tasks, r.Layout.CPUsPerTask = 17, 1, 17 }, gpus("", 1, protocol.PerNode)),
			"needs 17 CPUs on one node, one with gpu has 16",
		},
		{"of the whole site", asks(nil, protocol.Resource{Name: "fpga", Count: 3, Per: protocol.PerJob}), ""},
		{"more than those", asks(nil, protocol.Resource{Name: "fpga", Count: 4, Per: protocol.PerJob}), "needs 4 fpga, the site has 3"},
		{"of the whole site are on no node", asks(nil, protocol.Resource{Name: "fpga", Count: 1, Per: protocol.PerNode}), "needs 1 fpga"},
		{"a feature", asks(constraint("skylake")), ""},
		{"an unknown one", asks(constraint("knl")), "no node has the features knl"},
		{"two that no node has together", asks(constraint("skylake&zen3")), "no node has"},
		{"one of two", asks(constraint("knl|zen3")), ""},
		{"in parentheses", asks(constraint("ib&(knl|zen3)")), ""},
		{"left to right", asks(constraint("knl|ib&skylake")), ""},
		{"a feature without the GPU", asks(constraint("skylake"), gpus("", 1, protocol.PerNode)), "no node has gpu and skylake"},
		{"nodes with a feature", asks(func(r *protocol.Request) { r.CPUs, r.Nodes, r.Features = 9, 9, "skylake" }), "needs 9 nodes with skylake, the site has 8"},
		{"either kind of node", asks(func(r *protocol.Request) { r.CPUs, r.Nodes, r.Features = 9, 9, "skylake|zen3" }), ""},
		{"all of one kind", asks(func(r *protocol.Request) { r.CPUs, r.Nodes, r.Features = 9, 9, "[skylake|zen3]" }), "needs 9 nodes with"},
		{"some of each", asks(func(r *protocol.Request) { r.CPUs, r.Nodes, r.Features = 12, 12, "[zen3*4&skylake*8]" }), ""},
		{"too many of one", asks(func(r *protocol.Request) { r.CPUs, r.Nodes, r.Features = 12, 12, "zen3*5&skylake*7" }), "needs 5 nodes with the feature zen3"},
		{"whole nodes", asks(func(r *protocol.Request) { r.Exclusive = true }), ""},
	} {
		site := mixed()
		reason := site.Fits(c.r)
		if (c.want == "") != (reason == "") || !strings.HasPrefix(reason, c.want) {
			t.Errorf("%s: %q, want %q", c.name, reason, c.want)
		}
		if site.CanRun(c.r) != (reason == "") {
			t.Errorf("%s: CanRun and Fits differ", c.name)
		}
	}
	plain := protocol.Capacity{CPUs: 100, Nodes: 10}
	for want, r := range map[string]protocol.Request{
		"needs 1 gpu, the site has none":              asks(nil, gpus("", 1, protocol.PerNode)),
		"needs skylake; the site states none":         asks(constraint("skylake")),
		"needs nodes for itself, the site gives none": asks(func(r *protocol.Request) { r.Exclusive = true }),
	} {
		if got := plain.Fits(r); got != want {
			t.Errorf("a site that states nothing: %q, want %q", got, want)
		}
	}
}

// TestEqualLooksAtAllFields changes each field of a request in turn.
func TestEqualLooksAtAllFields(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := protocoltest.Request(t, 1)
		if !r.Equal(r) {
			t.Fatal("it differs from itself")
		}
		other := protocoltest.Request(t, 1)
		if got, want := r.Equal(other), reflect.DeepEqual(r, other); got != want {
			t.Fatalf("%+v and %+v: %t", r, other, got)
		}
		for i := range reflect.TypeFor[protocol.Request]().NumField() {
			changed := r
			field := reflect.ValueOf(&changed).Elem().Field(i)
			before := reflect.ValueOf(r).Field(i).Interface()
			field.Set(reflect.ValueOf(other).Field(i))
			if same := reflect.DeepEqual(before, field.Interface()); r.Equal(changed) != same {
				t.Fatalf("the field %s is not compared", reflect.TypeFor[protocol.Request]().Field(i).Name)
			}
		}
	})
}

func TestParseFeatures(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":            "",
		"a":           "",
		"a&b|c":       "",
		"(a|b)&c":     "",
		"((a))":       "",
		"[a|b]":       "",
		"[a*2&b*1]":   "",
		"a*2&b":       "",
		"a&":          "ends where a feature is expected",
		"&a":          `has '&' at byte 1, where a feature is expected`,
		"(a":          `ends where ")" is expected`,
		"a)":          `has ')' at byte 2`,
		"a b":         `has ' '`,
		"a,b":         `has ','`,
		"a*0":         "the number of nodes must be from 1",
		"a*x":         "the number of nodes must be from 1",
		"[a|b]&c":     "brackets with | cannot be joined",
		"[a|b]|[c|d]": "has brackets twice",
		strings.Repeat("(", 17) + "a" + strings.Repeat(")", 17): "nested more than 16 deep",
		strings.Repeat("a", 65):                                 "at most 64 are allowed",
		strings.Repeat("a|", 513):                               "use at most 1024",
	} {
		_, err := protocol.ParseFeatures(text)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
}

func FuzzParseFeatures(f *testing.F) {
	for _, seed := range []string{"a", "a&(b|c)", "[a|b]", "[a*2&b*1]", "((", "a*"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		features, err := protocol.ParseFeatures(text)
		if err != nil {
			return
		}
		for _, one := range features.Alternatives() {
			one.Admits(&protocol.NodeGroup{Features: []string{"a", "b"}})
		}
		for _, one := range features.Counted() {
			if one.Name == "" || one.Count < 1 {
				t.Errorf("%q counts %+v", text, one)
			}
		}
	})
}

func TestCheckExtras(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		r    protocol.Request
		want string // the path of the field
	}{
		"right":      {asks(nil, gpus("a100", 1, protocol.PerNode), gpus("a100", 1, protocol.PerJob)), ""},
		"unsorted":   {asks(nil, gpus("b", 1, protocol.PerNode), gpus("a", 1, protocol.PerNode)), "resources[1].name"},
		"twice":      {asks(nil, gpus("a", 1, protocol.PerNode), gpus("a", 2, protocol.PerNode)), "resources[1].name"},
		"no name":    {asks(nil, protocol.Resource{Count: 1, Per: protocol.PerJob}), "resources[0].name"},
		"a blank":    {asks(nil, protocol.Resource{Name: "gp u", Count: 1, Per: protocol.PerJob}), "resources[0].name"},
		"none":       {asks(nil, gpus("a", 0, protocol.PerNode)), "resources[0].count"},
		"per what":   {asks(nil, gpus("a", 1, 0)), "resources[0].per"},
		"per else":   {asks(nil, gpus("a", 1, 9)), "resources[0].per"},
		"constraint": {asks(func(r *protocol.Request) { r.Features = "a&" }), "features"},
	} {
		err := c.r.CheckExtras()
		path := ""
		if err != nil {
			path, _ = protocol.FieldPath(err)
		}
		if path != c.want || (err == nil) != (c.want == "") {
			t.Errorf("%s: %v, want an error about %q", name, err, c.want)
		}
	}
}

// TestFitsLicenses: what is of the whole site needs no nodes that are stated in groups.
func TestFitsLicenses(t *testing.T) {
	t.Parallel()
	site := protocol.Capacity{CPUs: 8, Nodes: 1, NodeCPUs: 8, Shared: []protocol.Resource{{Name: protocol.License, Type: "solver", Count: 2}}}
	for want, r := range map[string]protocol.Request{
		"":                                       asks(nil, protocol.NewLicense("solver", 2)),
		"needs 3 license:solver, the site has 2": asks(nil, protocol.NewLicense("solver", 3)),
		"needs 1 license:mesh, the site has none": asks(nil, protocol.NewLicense("mesh", 1)),
		"needs license:solver and fast; the site": asks(func(r *protocol.Request) { r.Features = "fast" }, protocol.NewLicense("solver", 1)),
		"needs 1 gpu, the site has none":          asks(nil, gpus("", 1, protocol.PerNode), protocol.NewLicense("solver", 1)),
	} {
		if got := site.Fits(r); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%+v: %q, want %q", r, got, want)
		}
	}
}

// TestTotals: counts that a lying site states do not overflow.
func TestTotals(t *testing.T) {
	t.Parallel()
	many := protocol.NodeGroup{Nodes: math.MaxInt32, Resources: []protocol.Resource{{Name: "gpu", Count: math.MaxInt32}, {Name: "nic", Count: 1}}}
	c := protocol.Capacity{
		Groups: []protocol.NodeGroup{many, {Nodes: 2, Resources: []protocol.Resource{{Name: "gpu", Type: "a100", Count: 3}}}, many, many},
		Shared: []protocol.Resource{{Name: protocol.License, Type: "solver", Count: 4}},
	}
	if err := c.CheckGroups(); err != nil {
		t.Fatal(err)
	}
	want := []protocol.Resource{
		{Name: "gpu", Count: math.MaxInt32}, {Name: "gpu", Type: "a100", Count: 6}, {Name: protocol.License, Type: "solver", Count: 4}, {Name: "nic", Count: math.MaxInt32},
	}
	if got := c.Totals(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := (&protocol.Capacity{}).Totals(); len(got) > 0 {
		t.Errorf("nothing has %v", got)
	}
}
