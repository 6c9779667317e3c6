package mincostflow

// search is the work space of shortest paths and of what goes along them.
type search struct {
	distance []int64 // of each node from what is in excess, with arcs
	open     []int32 // nodes not settled
	level    []int32 // arcs to each settled node, or closed
	next     []int32 // where to look for each node's next arc
	path     []int32
}

const closed = -1

func newSearch(nodes int) search {
	return search{
		distance: make([]int64, nodes), open: make([]int32, 0, nodes),
		level: make([]int32, nodes), next: make([]int32, nodes),
	}
}

// reach settles nodes in the order of their distance from what is in excess
// (Dijkstra on a dense graph), and moves prices so that shortest paths cost
// nothing. It goes on until half of the nodes that lack units are settled: going
// to the nearest alone moves too little, to all is too far. Where moves that are
// not known might be shorter, it stops. It reports whether it came to a node that
// lacks units.
func (m *market) reach() bool {
	s := &m.search
	budget := m.budget()
	wanted := m.prepare()
	limit, last := int64(-1), int64(-1)
	for v := m.nearest(); v >= 0; v = m.settle(v) {
		plain := s.distance[v] >> m.hop
		if plain > budget || limit >= 0 && plain > limit {
			break
		}
		if m.excess[v] < 0 {
			last = plain
			if wanted--; wanted == 0 {
				limit = plain
			}
		}
		s.level[v] = int32(s.distance[v] & (1<<m.hop - 1)) //nolint:gosec // the low bits
	}
	if last < 0 {
		return false
	}
	m.reprice(last)
	return true
}

// prepare opens all nodes, and returns how many that lack units are wanted.
func (m *market) prepare() (wanted int) {
	s := &m.search
	s.open = s.open[:0]
	lacking := 0
	for v, e := range m.excess {
		s.distance[v] = far
		s.level[v] = closed
		s.next[v] = 0
		s.open = append(s.open, int32(v))
		if e > 0 {
			s.distance[v] = 0
		}
		if e < 0 {
			lacking++
		}
	}
	return (lacking + 1) / 2
}

// reprice raises the price of what is nearer than limit, then all prices so that
// the sink's is 0 again.
func (m *market) reprice(limit int64) {
	s := &m.search
	sink := min(s.distance[m.sink]>>m.hop, limit)
	for v, d := range s.distance {
		m.price[v] += (sink - min(d>>m.hop, limit)) << m.hop
	}
}

// nearest takes the nearest of the open nodes; -1 if none can be reached.
func (m *market) nearest() int32 {
	s := &m.search
	best, distance := -1, int64(far/2)
	for i, v := range s.open {
		if d := s.distance[v]; d < distance {
			best, distance = i, d
		}
	}
	return s.take(best)
}

// take takes the i-th open node, or none.
func (s *search) take(i int) int32 {
	if i < 0 {
		return -1
	}
	v, last := s.open[i], len(s.open)-1
	s.open[i] = s.open[last]
	s.open = s.open[:last]
	return v
}

// settle follows the arcs of a node and takes the nearest of those still open.
func (m *market) settle(v int32) int32 {
	s := &m.search
	from := s.distance[v] - m.price[v]
	if v == m.sink {
		for _, a := range s.open {
			if step, ok := m.fromSink(a); ok {
				s.distance[a] = min(s.distance[a], from+m.price[a]-step<<m.hop+1)
			}
		}
		return m.nearest()
	}
	if step, ok := m.toSink(v); ok {
		s.distance[m.sink] = min(s.distance[m.sink], from+m.price[m.sink]+step<<m.hop+1)
	}
	length := m.moves.length[int(v)*int(m.sink):][:m.sink]
	best, distance := -1, int64(far/2)
	for i, b := range s.open {
		d := s.distance[b]
		if int(b) < len(length) {
			if through := from + length[b] + m.price[b]; through < d {
				d = through
				s.distance[b] = d
			}
		}
		if d < distance {
			best, distance = i, d
		}
	}
	return s.take(best)
}
