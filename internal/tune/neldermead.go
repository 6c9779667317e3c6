package tune

import (
	"cmp"
	"slices"
)

// simplex is the downhill simplex of Nelder and Mead (The Computer Journal 7, 1965), with
// their factors: of so many dimensions and one more corners, the worst is replaced again
// and again.
type simplex struct {
	corners []corner // the best first
	goal    func(places ...[]float64) ([]float64, error)
}

// corner is a place, and how bad it is.
type corner struct {
	at   []float64
	goal float64
}

// newSimplex looks at all corners at once.
func newSimplex(places [][]float64, goal func(places ...[]float64) ([]float64, error)) (*simplex, error) {
	s := &simplex{goal: goal}
	goals, err := goal(places...)
	for i, g := range goals {
		s.corners = append(s.corners, corner{places[i], g})
	}
	s.sort()
	return s, err
}

func (s *simplex) sort() {
	slices.SortStableFunc(s.corners, func(a, b corner) int { return cmp.Compare(a.goal, b.goal) })
}

// The factors of [Nelder and Mead 1965].
const (
	reflection  = 1.0
	expansion   = 2.0
	contraction = 0.5
	shrinkage   = 0.5
)

// step replaces the worst corner by a better place on the line through the centre of the
// others, or draws all corners towards the best where there is none.
func (s *simplex) step() error {
	last := len(s.corners) - 1
	best, second, worst := s.corners[0], s.corners[max(0, last-1)], s.corners[last]
	centre := s.centre()
	reflected, err := s.look(between(centre, worst.at, -reflection))
	if err != nil {
		return err
	}
	next := reflected
	switch {
	case reflected.goal < best.goal:
		if next, err = s.look(between(centre, worst.at, -expansion)); next.goal >= reflected.goal {
			next = reflected
		}
	case reflected.goal < second.goal:
	case reflected.goal < worst.goal:
		next, err = s.look(between(centre, reflected.at, contraction))
		if next.goal > reflected.goal {
			return s.shrink(err)
		}
	default:
		next, err = s.look(between(centre, worst.at, contraction))
		if next.goal >= worst.goal {
			return s.shrink(err)
		}
	}
	s.corners[last] = next
	s.sort()
	return err
}

// flat says whether all corners are as good: by it Nelder and Mead stop.
func (s *simplex) flat() bool { return s.corners[len(s.corners)-1].goal-s.corners[0].goal < same }

func (s *simplex) look(at []float64) (corner, error) {
	goals, err := s.goal(at)
	if err != nil {
		return corner{}, err
	}
	return corner{at, goals[0]}, nil
}

// shrink draws the other corners halfway to the best, unless something has failed.
func (s *simplex) shrink(failed error) error {
	if failed != nil {
		return failed
	}
	places := make([][]float64, len(s.corners))
	for i := range s.corners {
		places[i] = between(s.corners[0].at, s.corners[i].at, shrinkage)
	}
	drawn, err := newSimplex(places[1:], s.goal)
	if err != nil {
		return err
	}
	s.corners = append(s.corners[:1], drawn.corners...)
	s.sort()
	return nil
}

// centre is that of all corners but the worst.
func (s *simplex) centre() []float64 {
	others := s.corners[:len(s.corners)-1]
	centre := make([]float64, len(others[0].at))
	for _, c := range others {
		for i, x := range c.at {
			centre[i] += x / float64(len(others))
		}
	}
	return centre
}

// between is the place by so large a part of the way from one to another; below 0 it is
// on the other side.
func between(from, to []float64, part float64) []float64 {
	at := make([]float64, len(from))
	for i := range at {
		at[i] = from[i] + part*(to[i]-from[i])
	}
	return at
}
