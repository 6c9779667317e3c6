package mincostflow_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// carried solves a network and checks the certificate.
func carried(tb rapid.TB, n *Network) *NetworkFlow {
	tb.Helper()
	f, err := n.Solve()
	if err != nil {
		tb.Fatal(err)
	}
	if err := n.Certify(f); err != nil {
		tb.Fatalf("certificate: %v", err)
	}
	return f
}

func TestNetwork(t *testing.T) {
	t.Parallel()
	type arcs = []Arc
	const unbounded = UnboundedArc
	for name, c := range map[string]struct {
		n    Network
		cost int64
	}{
		"nothing":        {Network{}, 0},
		"the cheap way":  {Network{Supply: []int64{2, 0, -2}, Arcs: arcs{{0, 2, 9, 5}, {0, 1, 1, 1}, {1, 2, 9, 1}}}, 7},
		"parallel arcs":  {Network{Supply: []int64{3, -3}, Arcs: arcs{{0, 1, 1, 4}, {0, 1, 1, -2}, {0, 1, unbounded, 1}}}, 0},
		"negative cycle": {Network{Supply: []int64{0, 0}, Arcs: arcs{{0, 1, 4, -3}, {1, 0, 3, 1}}}, -6},
		"negative loop":  {Network{Supply: []int64{0}, Arcs: arcs{{0, 0, 5, -1}}}, -5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := carried(t, &c.n); got.Cost != c.cost {
				t.Errorf("cost %d, want %d: %v", got.Cost, c.cost, got.Flow)
			}
		})
	}
}

func TestNetworkWithoutACheapestFlow(t *testing.T) {
	t.Parallel()
	type arcs = []Arc
	const unbounded = UnboundedArc
	for name, c := range map[string]struct {
		n    Network
		want error
		text string
	}{
		"cut off":       {Network{Supply: []int64{1, -1}}, ErrInfeasible, ""},
		"too narrow":    {Network{Supply: []int64{2, -2}, Arcs: arcs{{0, 1, 1, 0}}}, ErrInfeasible, ""},
		"unbounded":     {Network{Supply: []int64{0, 0}, Arcs: arcs{{0, 1, unbounded, -1}, {1, 0, unbounded, 0}}}, ErrUnbounded, ""},
		"unbalanced":    {Network{Supply: []int64{2, -1}}, nil, "supply: 2 are given, but 1 needed"},
		"overflow":      {Network{Supply: []int64{math.MaxInt64, math.MaxInt64, 2}}, nil, "supply[1]: the sum"},
		"no such node":  {Network{Supply: []int64{0}, Arcs: arcs{{0, 1, 1, 0}}}, nil, "arcs[0]: 0 to 1 are not both among 1 nodes"},
		"negative room": {Network{Supply: []int64{0}, Arcs: arcs{{0, 0, -1, 0}}}, nil, "arcs[0]: a capacity of -1"},
		"huge cost":     {Network{Supply: []int64{0}, Arcs: arcs{{0, 0, 1, math.MinInt64}}}, nil, "arcs[0]: a cost of"},
		"huge sum":      {Network{Supply: []int64{0}, Arcs: arcs{{0, 0, 1 << 40, -1 << 40}}}, nil, "arcs[0]: the costs up to here"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := c.n.Solve()
			switch {
			case err == nil:
				t.Errorf("found %v", f)
			case c.want != nil && !errors.Is(err, c.want), !strings.Contains(err.Error(), c.text):
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestNetworkIsCertified on random graphs, of any sign of cost.
func TestNetworkIsCertified(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(1, 12).Draw(t, "nodes")
		n := &Network{Supply: make([]int64, nodes)}
		node := rapid.IntRange(0, nodes-1)
		for range rapid.IntRange(0, 40).Draw(t, "arcs") {
			n.Arcs = append(n.Arcs, Arc{
				From: node.Draw(t, "from"), To: node.Draw(t, "to"),
				Capacity: rapid.Int64Range(0, 9).Draw(t, "capacity"), Cost: rapid.Int64Range(-9, 9).Draw(t, "cost"),
			})
		}
		for range rapid.IntRange(0, 4).Draw(t, "supplies") {
			units := rapid.Int64Range(0, 5).Draw(t, "units")
			n.Supply[node.Draw(t, "giver")] += units
			n.Supply[node.Draw(t, "taker")] -= units
		}
		f, err := n.Solve()
		if errors.Is(err, ErrInfeasible) {
			if wide := widest(n); wide != nil {
				t.Fatalf("infeasible, but %v carries it", wide)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := n.Certify(f); err != nil {
			t.Fatal(err)
		}
	})
}

// widest is a flow that carries the supplies, found by pushing along any free path;
// nil if there is none.
func widest(n *Network) []int64 {
	flow := make([]int64, len(n.Arcs))
	left := append([]int64(nil), n.Supply...)
	var visit func(v int, seen []bool) bool
	visit = func(v int, seen []bool) bool {
		if left[v] < 0 {
			left[v]++
			return true
		}
		seen[v] = true
		for i, arc := range n.Arcs {
			if arc.From == v && flow[i] < arc.Capacity && !seen[arc.To] && visit(arc.To, seen) {
				flow[i]++
				return true
			}
			if arc.To == v && flow[i] > 0 && !seen[arc.From] && visit(arc.From, seen) {
				flow[i]--
				return true
			}
		}
		return false
	}
	for v := range left {
		for left[v] > 0 {
			if !visit(v, make([]bool, len(left))) {
				return nil
			}
			left[v]--
		}
	}
	return flow
}

func TestNetworkCertificateRejectsTampering(t *testing.T) {
	t.Parallel()
	n := &Network{Supply: []int64{2, 0, -2}, Arcs: []Arc{{0, 2, 9, 5}, {0, 1, 1, 1}, {1, 2, 9, 1}}}
	for name, tamper := range map[string]func(*NetworkFlow){
		"flow":       func(f *NetworkFlow) { f.Flow[0]++ },
		"another":    func(f *NetworkFlow) { f.Flow, f.Cost = []int64{2, 0, 0}, 10 },
		"cost":       func(f *NetworkFlow) { f.Cost-- },
		"potential":  func(f *NetworkFlow) { f.Potentials[2]++ },
		"too few":    func(f *NetworkFlow) { f.Flow = f.Flow[1:] },
		"too narrow": func(f *NetworkFlow) { f.Flow = []int64{-1, 3, 3} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := carried(t, n)
			tamper(f)
			if n.Certify(f) == nil {
				t.Error("certified")
			}
		})
	}
}
