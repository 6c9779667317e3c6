package mincostflow

// push moves units along shortest paths until each is blocked, by depth first
// search from each node in excess.
func (m *market) push() {
	for root := range m.excess {
		for m.excess[root] > 0 && m.search.level[root] == 0 && m.augment(int32(root)) {
			continue
		}
	}
}

// augment finds one path from a root to a node that lacks units, and sends what it
// can along it. What leads nowhere is closed.
func (m *market) augment(root int32) bool {
	s := &m.search
	s.path = append(s.path[:0], root)
	for len(s.path) > 0 {
		v := s.path[len(s.path)-1]
		if m.excess[v] < 0 {
			m.send(s.path)
			return true
		}
		if b := m.arc(v); b >= 0 {
			s.path = append(s.path, b)
			continue
		}
		s.level[v] = closed
		s.path = s.path[:len(s.path)-1]
	}
	return false
}

// arc is the next node after v on a shortest path, or -1.
func (m *market) arc(v int32) int32 {
	if v == m.sink {
		return m.arcFromSink()
	}
	s := &m.search
	level, price := s.level[v]+1, m.price[v]+1
	length := m.moves.length[int(v)*int(m.sink):][:m.sink]
	for b := s.next[v]; b < m.sink; b++ {
		if s.level[b] != level || length[b]+m.price[b] != price {
			continue
		}
		if _, ok := m.first(v, b); ok && length[b]+m.price[b] == price {
			s.next[v] = b
			return b
		}
	}
	s.next[v] = m.sink
	step, ok := m.toSink(v)
	if ok && s.level[m.sink] == level && step<<m.hop+m.price[m.sink] == m.price[v] {
		return m.sink
	}
	return -1
}

func (m *market) arcFromSink() int32 {
	s := &m.search
	level := s.level[m.sink] + 1
	for a := s.next[m.sink]; a < m.sink; a++ {
		step, ok := m.fromSink(a)
		if ok && s.level[a] == level && m.price[a]-step<<m.hop == m.price[m.sink] {
			s.next[m.sink] = a
			return a
		}
	}
	s.next[m.sink] = m.sink
	return -1
}

// send moves one unit along a path, or if no job is moved as many as fit; from the
// path's end, so that no job moves twice.
func (m *market) send(path []int32) {
	root, end := path[0], path[len(path)-1]
	units := min(m.excess[root], -m.excess[end])
	for i, b := range path[1:] {
		units = min(units, m.room(path[i], b))
	}
	for i := len(path) - 1; i > 0; i-- {
		a, b := path[i-1], path[i]
		switch {
		case b == m.sink:
			m.sold[a] += units
		case a == m.sink:
			m.sold[b] -= units
		default:
			if job, ok := m.first(a, b); ok {
				m.move(job, a, b)
			}
		}
	}
	m.excess[root] -= units
	m.excess[end] += units
	m.over -= units
}

// room is how many units an arc takes at the same cost.
func (m *market) room(a, b int32) int {
	switch {
	case b == m.sink:
		next := m.step(int(a), m.sold[a])
		return m.units(int(a), func(step int64) bool { return step <= next }) - m.sold[a]
	case a == m.sink:
		last := m.step(int(b), m.sold[b]-1)
		return m.sold[b] - m.units(int(b), func(step int64) bool { return step < last })
	}
	return 1
}
