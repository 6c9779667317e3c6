package engine_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/partition"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// twin is a pair of racks on one loop of wires, two cards a rack: the torus of the
// left rack runs through the right one.
const twin = `
card,L-0,2
card,L-1,2
card,R-0,2
card,R-1,2
partition,ALL,8,torus,L R,W X
partition,CHECK,4,diagnostics,L
partition,LEFT-MESH,4,mesh,L,W
partition,LEFT-TORUS,4,torus,L,W X
partition,RIGHT-MESH,4,mesh,R,X
partition,L0,2,mesh,L-0
partition,L1,2,mesh,L-1
partition,R0,2,mesh,R-0
`

func layoutOf(t failer, text string) *partition.Layout {
	t.Helper()
	layout, err := partition.Parse(strings.NewReader(text), "layout.csv")
	if err != nil {
		t.Fatalf("%v", err)
	}
	return layout
}

func partitioned(t failer, layout *partition.Layout, cpusPerNode int, enabled engine.Enabled) engine.Machine {
	t.Helper()
	capacity := protocol.Capacity{Nodes: layout.Nodes(), CPUs: cpusPerNode * layout.Nodes(), MaxWallTime: 100}
	m, err := engine.Partitioned(layout, capacity, enabled)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return m
}

func intrepid(t failer, enabled engine.Enabled) engine.Machine {
	t.Helper()
	layout, err := partition.Intrepid()
	if err != nil {
		t.Fatalf("%v", err)
	}
	m, err := engine.Partitioned(layout, protocol.Capacity{Nodes: 40960, CPUs: 163840}, enabled)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return m
}

func nameOf(t failer, m engine.Machine, place engine.Place) string {
	t.Helper()
	namer, ok := m.(engine.PlaceNamer)
	if !ok {
		t.Fatalf("%T does not name its places", m)
	}
	return namer.PlaceName(place)
}

func TestPartitionedRefuses(t *testing.T) {
	t.Parallel()
	layout := layoutOf(t, twin)
	for _, c := range []struct {
		capacity protocol.Capacity
		enabled  engine.Enabled
		want     string
	}{
		{protocol.Capacity{Nodes: 9, CPUs: 9}, engine.Enabled{}, "has 9 nodes, but the cards of its layout have 8"},
		{protocol.Capacity{Nodes: 8, CPUs: 12}, engine.Enabled{}, "12 CPUs cannot be shared evenly by 8 nodes"},
		{protocol.Capacity{Nodes: 8}, engine.Enabled{}, "0 CPUs cannot be shared"},
		{protocol.Capacity{Nodes: 8, CPUs: 8}, engine.Enabled{Smallest: 9}, "no partition of at least 9 nodes"},
	} {
		if _, err := engine.Partitioned(layout, c.capacity, c.enabled); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.capacity, err, c.want)
		}
	}
}

func TestPartitionedUnits(t *testing.T) {
	t.Parallel()
	all, large := intrepid(t, engine.Enabled{}), intrepid(t, engine.Enabled{Smallest: 512})
	gap := partitioned(t, layoutOf(t, strings.ReplaceAll(twin, "partition,ALL,8,torus,L R,W X\n", "")), 4, engine.Enabled{})
	for _, c := range []struct {
		name    string
		machine engine.Machine
		request protocol.Request
		want    int // 0: refused
	}{
		{"a CPU", all, protocol.Request{CPUs: 1}, 64},
		{"nothing", all, protocol.Request{}, 64},
		{"full", all, protocol.Request{CPUs: 256}, 64},
		{"a CPU more", all, protocol.Request{CPUs: 257}, 128},
		{"nodes count if they are more", all, protocol.Request{CPUs: 257, Nodes: 200}, 256},
		{"a CPU of large ones", large, protocol.Request{CPUs: 1}, 512},
		{"a midplane", large, protocol.Request{CPUs: 2048}, 512},
		{"no power of two", large, protocol.Request{CPUs: 65537}, 24576},
		{"more than 32 racks", large, protocol.Request{Nodes: 32769}, 40960},
		{"all", large, protocol.Request{CPUs: 163840, Nodes: 40960}, 40960},
		{"too many CPUs", large, protocol.Request{CPUs: 163841}, 0},
		{"too many nodes", large, protocol.Request{Nodes: 40961}, 0},
		{"no partition is as large", gap, protocol.Request{Nodes: 5}, 0},
		{"the largest", gap, protocol.Request{CPUs: 13}, 4},
		{"too long", gap, protocol.Request{CPUs: 1, WallTime: 101}, 0},
	} {
		units, reason := c.machine.Units(c.request)
		if units != c.want || (reason == "") != (c.want > 0) {
			t.Errorf("%s: %d units, reason %q, want %d", c.name, units, reason, c.want)
		}
	}
	if got := large.CPUs(512); got != 2048 {
		t.Errorf("a midplane has %d CPUs, want 2048", got)
	}
	if got := nameOf(t, all, -1) + nameOf(t, all, 2000); got != "" {
		t.Errorf("places that do not exist are called %q", got)
	}
}

// TestLeastBlocking fills a machine step by step. Each job gets what leaves most of
// the rest to others.
func TestLeastBlocking(t *testing.T) {
	t.Parallel()
	m := partitioned(t, layoutOf(t, twin), 1, engine.Enabled{})
	for _, c := range []struct {
		units []int
		want  string
	}{
		{[]int{2}, "R0"},                           // the torus is not in its way
		{[]int{2, 4}, "R0 LEFT-MESH"},              // blocks as much as LEFT-TORUS, and comes before it
		{[]int{2, 2}, "R0 L0"},                     // all of the left rack blocks as much
		{[]int{2, 2, 2}, "R0 L0 L1"},               // the last
		{[]int{2, 2, 2, 2}, "R0 L0 L1 -"},          // two nodes are free, in no partition
		{[]int{4, 4}, "RIGHT-MESH LEFT-MESH"},      // the torus would need the other's wire
		{[]int{4, 8, 4}, "RIGHT-MESH - LEFT-MESH"}, // all need all
	} {
		room := m.NewFreeSet()
		var got []string
		for _, units := range c.units {
			place, ok := room.Find(engine.Demand{Units: units}, nil)
			if !ok {
				got = append(got, "-")
				continue
			}
			room.Allocate(engine.Demand{Units: units}, place)
			got = append(got, nameOf(t, m, place))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%v take %v, want %s", c.units, got, c.want)
		}
	}
}

// TestPassThrough: two half rows run side by side as meshes only, since a torus runs
// through the other half.
func TestPassThrough(t *testing.T) {
	t.Parallel()
	layout, err := partition.Generate(1, 8)
	if err != nil {
		t.Fatal(err)
	}
	trace := []arrival{{0, job(0, 4096, 9), 9}, {0, job(1, 4096, 9), 9}, {0, job(2, 512, 9), 9}}
	for torusOnly, want := range map[bool]protocol.Instant{false: 0, true: 9} {
		m := partitioned(t, layout, 1, engine.Enabled{TorusOnly: torusOnly, Smallest: 512})
		starts := startsOf(t, m, engine.EASY(), trace)
		if starts[tag(0)] != 0 || starts[tag(1)] != want {
			t.Errorf("torus only %v: started at %v", torusOnly, starts)
		}
		// A midplane that is passed through can be used meanwhile.
		if torusOnly && starts[tag(2)] != 0 {
			t.Errorf("the small job started at %v", starts[tag(2)])
		}
	}
}

// drawLayout draws a small machine: cards of one or two nodes, partitions of any of
// them on any wires, and one of them all.
func drawLayout(t *rapid.T) *partition.Layout {
	var text strings.Builder
	nodes := rapid.SliceOfN(rapid.IntRange(1, 2), 1, 6).Draw(t, "cards")
	card := func(i int) string { return fmt.Sprintf("C%d", i) }
	add := func(i int, kind string, cards, wires []string, sum int) {
		fmt.Fprintf(&text, "partition,P%d,%d,%s,%s,%s\n", i, sum, kind, strings.Join(cards, " "), strings.Join(wires, " "))
	}
	var all []string
	total := 0
	for i, n := range nodes {
		fmt.Fprintf(&text, "card,%s,%d\n", card(i), n)
		all = append(all, card(i))
		total += n
	}
	add(0, "torus", all, nil, total)
	for i := range rapid.IntRange(0, 9).Draw(t, "partitions") {
		set := rapid.SliceOfNDistinct(rapid.IntRange(0, len(nodes)-1), 1, len(nodes), rapid.ID).Draw(t, "set")
		cards, sum := []string{}, 0
		for _, c := range set {
			cards = append(cards, card(c))
			sum += nodes[c]
		}
		wires := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"X", "Y", "Z"}), rapid.ID).Draw(t, "wires")
		add(i+1, rapid.SampledFrom([]string{"torus", "torus", "mesh", "diagnostics"}).Draw(t, "kind"), cards, wires, sum)
	}
	return layoutOf(t, text.String())
}

func drawPartitioned(t *rapid.T) engine.Machine {
	return partitioned(t, drawLayout(t), rapid.IntRange(1, 2).Draw(t, "CPUs per node"), engine.Enabled{})
}

// ground is a machine seen through its layout: what a room of it is compared with.
type ground struct {
	layout *partition.Layout
	at     map[engine.Place]int // partitions of the places
	places []engine.Place
}

func groundOf(t failer, layout *partition.Layout, m engine.Machine) *ground {
	t.Helper()
	g := &ground{layout: layout, at: map[engine.Place]int{}}
	for place := engine.Place(0); nameOf(t, m, place) != ""; place++ {
		i, ok := layout.Find(nameOf(t, m, place))
		if !ok {
			t.Fatalf("place %d is no partition", place)
		}
		g.at[place] = i
		g.places = append(g.places, place)
	}
	return g
}

// apart reports whether two places exclude each other, by a look at all that they have.
func (g *ground) apart(a, b engine.Place) bool {
	p, q := &g.layout.Partitions[g.at[a]], &g.layout.Partitions[g.at[b]]
	return a == b || slices.ContainsFunc(p.Cards, func(card int) bool { return slices.Contains(q.Cards, card) }) ||
		slices.ContainsFunc(p.Wires, func(wire string) bool { return slices.Contains(q.Wires, wire) })
}

// plot is a room written a second time, as lists that are searched.
type plot struct {
	*ground

	taken []engine.Place
	met   []*plot // as they were
}

func (p *plot) copied() *plot {
	return &plot{p.ground, slices.Clone(p.taken), slices.Clone(p.met)}
}

func (p *plot) has(place engine.Place) bool {
	return !slices.ContainsFunc(p.taken, func(t engine.Place) bool { return p.apart(t, place) }) &&
		!slices.ContainsFunc(p.met, func(m *plot) bool { return !m.has(place) })
}

func (p *plot) holds(card int) bool {
	return slices.ContainsFunc(p.taken, func(t engine.Place) bool {
		return slices.Contains(p.layout.Partitions[p.at[t]].Cards, card)
	}) || slices.ContainsFunc(p.met, func(m *plot) bool { return m.holds(card) })
}

func (p *plot) free() (nodes int) {
	for i, card := range p.layout.Cards {
		if !p.holds(i) {
			nodes += card.Nodes
		}
	}
	return nodes
}

// find is the place that blocks the fewest free ones, the first by name among equals.
func (p *plot) find(units int, beside *plot) (found engine.Place, ok bool) {
	least, name := math.MaxInt, ""
	for _, place := range p.places {
		partition := &p.layout.Partitions[p.at[place]]
		if partition.Nodes != units || !p.has(place) || beside != nil && !beside.has(place) {
			continue
		}
		blocks := 0
		for _, other := range p.places {
			if p.has(other) && p.apart(place, other) {
				blocks++
			}
		}
		if blocks < least || blocks == least && partition.Name < name {
			found, ok, least, name = place, true, blocks, partition.Name
		}
	}
	return found, ok
}

// TestRoomIsThePlot does the same to rooms and to plots: what is taken may overlap,
// as it may in plans, and is given back in any order.
func TestRoomIsThePlot(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		layout := drawLayout(t)
		m := partitioned(t, layout, 1, engine.Enabled{})
		g := groundOf(t, layout, m)
		rooms, plots := []engine.FreeSet{m.NewFreeSet(), m.NewFreeSet()}, []*plot{{ground: g}, {ground: g}}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			i := rapid.IntRange(0, 1).Draw(t, "room")
			room, p := rooms[i], plots[i]
			switch rapid.IntRange(0, 6).Draw(t, "step") {
			case 0, 1, 2:
				place := rapid.SampledFrom(g.places).Draw(t, "taken")
				room.Allocate(engine.Demand{Units: layout.Partitions[g.at[place]].Nodes}, place)
				p.taken = append(p.taken, place)
			case 3, 4:
				if len(p.taken) > 0 {
					n := rapid.IntRange(0, len(p.taken)-1).Draw(t, "given")
					room.Release(engine.Demand{Units: layout.Partitions[g.at[p.taken[n]]].Nodes}, p.taken[n])
					p.taken = slices.Delete(p.taken, n, n+1)
				}
			case 5:
				room.Intersect(rooms[1-i])
				p.met = append(p.met, plots[1-i].copied())
			case 6:
				room.CopyFrom(rooms[1-i])
				plots[i] = plots[1-i].copied()
			}
			sameRoom(t, rooms[0], rooms[1], plots[0], plots[1])
			sameRoom(t, rooms[1], rooms[0], plots[1], plots[0])
		}
	})
}

func sameRoom(t *rapid.T, room, beside engine.FreeSet, p, other *plot) {
	if got, want := room.Free(), p.free(); got != want {
		t.Fatalf("%d nodes are free, want %d", got, want)
	}
	for _, place := range p.places {
		if got, want := room.Has(engine.Demand{}, place), p.has(place); got != want {
			t.Fatalf("place %d is free: %v, want %v", place, got, want)
		}
	}
	for units := range p.layout.Nodes() + 2 {
		place, ok := room.Find(engine.Demand{Units: units}, nil)
		if at, found := p.find(units, nil); ok != found || ok && place != at {
			t.Fatalf("%d units find %d %v, want %d %v", units, place, ok, at, found)
		}
		place, ok = room.Find(engine.Demand{Units: units}, beside)
		if at, found := p.find(units, other); ok != found || ok && place != at {
			t.Fatalf("beside the other %d units find %d %v, want %d %v", units, place, ok, at, found)
		}
		if sifted := engine.Sift(room, units, beside); sifted != ok {
			t.Fatalf("beside the other %d units may find a place: %v, want %v", units, sifted, ok)
		}
	}
}

// TestManyOfOneSize: a search that is in vain is told from one that finds the last place of seventy.
func TestManyOfOneSize(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	const lots = 70
	for i := range lots {
		fmt.Fprintf(&text, "card,C%02d,2\npartition,P%02d,2,mesh,C%02d\n", i, i, i)
	}
	m := partitioned(t, layoutOf(t, text.String()), 1, engine.Enabled{})
	room, beside := m.NewFreeSet(), m.NewFreeSet()
	for place := range engine.Place(lots - 1) {
		[]engine.FreeSet{room, beside}[place%2].Allocate(engine.Demand{Units: 2}, place)
		if !engine.Sift(room, 2, beside) {
			t.Fatalf("no place is left beside %d of %d", place+1, lots)
		}
	}
	if place, ok := room.Find(engine.Demand{Units: 2}, beside); !ok || place != lots-1 {
		t.Errorf("found %d %t, want the last place", place, ok)
	}
	if beside.Allocate(engine.Demand{Units: 2}, lots-1); engine.Sift(room, 2, beside) {
		t.Error("a place is left though all are taken")
	}
}

// TestPartitionInvariants: whatever comes and goes, no two jobs that run share a card
// or a wire, and no job at the head waits for a partition that is free. Under
// conservative backfilling it may: the partition can be promised to another.
func TestPartitionInvariants(t *testing.T) {
	t.Parallel()
	for _, name := range engine.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				layout := drawLayout(t)
				m := partitioned(t, layout, 1, engine.Enabled{})
				g := groundOf(t, layout, m)
				r := newRig(t, m, named(t, name))
				for i := range rapid.IntRange(1, 40).Draw(t, "steps") {
					request := drawRequest(t, m)
					run := rapid.IntRange(1, 15).Draw(t, "run")
					r.advance(r.now + protocol.Instant(rapid.IntRange(0, 5).Draw(t, "pause")))
					g.check(t, r.engine, name)
					r.submit(localsched.Queued{Request: request, Tag: tag(i)}, protocol.Duration(run))
					g.check(t, r.engine, name)
				}
				for r.step(1 << 62) {
					g.check(t, r.engine, name)
				}
			})
		})
	}
}

func (g *ground) check(t *rapid.T, e *engine.Engine, policy string) {
	running := &plot{ground: g, taken: e.Places()}
	for i, a := range running.taken {
		for _, b := range running.taken[:i] {
			if g.apart(a, b) {
				t.Fatalf("jobs run in %s and in %s", g.layout.Partitions[g.at[a]].Name, g.layout.Partitions[g.at[b]].Name)
			}
		}
	}
	queue := e.Queue()
	switch policy {
	case "conservative":
		return
	case "firstfit", "sjffit":
	default:
		queue = queue[:min(1, len(queue))]
	}
	for _, units := range queue {
		if place, ok := running.find(units, nil); ok {
			t.Fatalf("a job of %d nodes waits though %s is free", units, g.layout.Partitions[g.at[place]].Name)
		}
	}
}

// TestIntrepidInvariants is the same for one long story on the real machine.
func TestIntrepidInvariants(t *testing.T) {
	t.Parallel()
	layout, err := partition.Intrepid()
	if err != nil {
		t.Fatal(err)
	}
	m := intrepid(t, engine.Enabled{})
	g := groundOf(t, layout, m)
	if len(g.places) != 1467-120 {
		t.Errorf("%d places, want all but 80 midplanes and 40 cards under diagnosis", len(g.places))
	}
	excludes := func(a, b engine.Place) bool {
		_, found := slices.BinarySearch(layout.Conflicts(g.at[a]), g.at[b])
		return a == b || found
	}
	r := newRig(t, m, engine.EASY())
	random, waited := rand.New(rand.NewPCG(9, 9)), 0
	for i := range 300 {
		r.advance(protocol.Instant(1 + 20*i))
		j := crowd(random, i, 256)
		j.WallTime /= 10_000
		r.submit(j, 1+protocol.Duration(random.IntN(int(j.WallTime))))
		running := r.engine.Places()
		for n, a := range running {
			if slices.ContainsFunc(running[:n], func(b engine.Place) bool { return excludes(a, b) }) {
				t.Fatalf("another job runs beside %s", nameOf(t, m, a))
			}
		}
		queue := r.engine.Queue()
		if len(queue) == 0 {
			continue
		}
		waited++
		for _, place := range g.places {
			if layout.Partitions[g.at[place]].Nodes == queue[0] &&
				!slices.ContainsFunc(running, func(b engine.Place) bool { return excludes(place, b) }) {
				t.Fatalf("the head waits though %s is free", nameOf(t, m, place))
			}
		}
	}
	if waited < 100 {
		t.Errorf("a job waited in %d of 300 steps only", waited)
	}
	r.drain()
}

// TestShadowOfThePartition: the head waits for its own partition, and what overtakes
// it may take any other for as long as it likes.
//
//	L-0 L-1 R-0 R-1      A has L0 until 9, B has R0 until 3. C wants 4 nodes:
//	 A       B           the right rack, at 3. D (2 nodes) may have L1 for
//	                     any time, E nothing.
func TestShadowOfThePartition(t *testing.T) {
	t.Parallel()
	m := partitioned(t, layoutOf(t, twin), 1, engine.Enabled{})
	trace := []arrival{
		{0, job(0, 2, 3), 3}, // R0, which blocks least
		{0, job(1, 2, 9), 9}, // L0
		{1, job(2, 4, 5), 5},
		{1, job(3, 2, 50), 50},
		{1, job(4, 2, 50), 50},
	}
	want := []protocol.Instant{0, 0, 3, 1, 8}
	starts := startsOf(t, m, engine.EASY(), trace)
	for i := range trace {
		if starts[tag(i)] != want[i] {
			t.Errorf("job %d started at %d, want %d", i, starts[tag(i)], want[i])
		}
	}
}

// TestRestoreInPlace: after a restart jobs are where they were, though an engine that comes
// up would put them where the third has no room.
func TestRestoreInPlace(t *testing.T) {
	t.Parallel()
	m := partitioned(t, layoutOf(t, twin), 1, engine.Enabled{})
	restored := func(places ...string) (*engine.Engine, error) {
		e := engine.New(m, engine.FCFS())
		for n, place := range places {
			j := job(n, []int{2, 2, 4}[n], 100)
			j.Place = place
			if err := e.Restore(j, 0); err != nil {
				return e, err
			}
		}
		return e, nil
	}
	ran := []string{"L0", "L1", "RIGHT-MESH"}
	e, err := restored(ran...)
	if err != nil {
		t.Fatal(err)
	}
	for n, place := range ran {
		if got := e.PlaceName(tag(n)); got != place {
			t.Errorf("the job in %s is restored in %q", place, got)
		}
	}
	if _, err = restored("", "", ""); !errors.Is(err, engine.ErrNoFreeUnits) {
		t.Errorf("without their places: %v", err)
	}
	for _, invalid := range [][]string{{"nowhere"}, {"RIGHT-MESH"}, {"L0", "L0"}} {
		if _, err = restored(invalid...); err != nil {
			t.Errorf("restored in %v: %v; a place that cannot be is another one", invalid, err)
		}
	}
	if got := e.PlaceName(tag(9)); got != "" {
		t.Errorf("a job that is not there runs in %q", got)
	}
	if got := newRig(t, cpus(1), engine.FCFS()).engine.PlaceName(tag(0)); got != "" {
		t.Errorf("a place on a machine without names is %q", got)
	}
}

// TestPlaceNameWhileWaiting: a job that waits is in no place, whoever runs meanwhile.
func TestPlaceNameWhileWaiting(t *testing.T) {
	t.Parallel()
	e := engine.New(partitioned(t, layoutOf(t, twin), 1, engine.Enabled{}), engine.FirstFit())
	mustSubmit(t, e, 0, job(0, 2, 100))
	mustSubmit(t, e, 0, job(1, 8, 100))
	for n := 2; n < 12; n++ { // the starts and the submissions have like numbers
		mustSubmit(t, e, 0, job(n, 2, 10))
		if waits, runs := e.PlaceName(tag(1)), e.PlaceName(tag(n)); waits != "" || runs == "" {
			t.Errorf("a job that waits is in %q, one that runs in %q", waits, runs)
		}
		if _, err := e.Finished(0, tag(n)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTooManyConflicts: twenty thousand partitions on one wire are refused in little time and
// memory.
func TestTooManyConflicts(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&text, "card,C%05d,32\npartition,P%05d,32,torus,C%05d,W\n", i, i, i)
	}
	layout := layoutOf(t, text.String())
	_, err := engine.Partitioned(layout, protocol.Capacity{CPUs: layout.Nodes(), Nodes: layout.Nodes()}, engine.Enabled{})
	if err == nil || !strings.Contains(err.Error(), "more than 8388608 pairs of its 20000 partitions exclude each other; allow fewer") {
		t.Errorf("got %v", err)
	}
	large, err := partition.Generate(10, 8)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = engine.Partitioned(large, protocol.Capacity{CPUs: large.Nodes(), Nodes: large.Nodes()}, engine.Enabled{}); err != nil {
		t.Errorf("eighty racks: %v", err)
	}
}
