package engine

// Places are where the running jobs run.
func (e *Engine) Places() (places []Place) {
	for _, r := range e.core.state.running.list() {
		places = append(places, r.Place)
	}
	return places
}

// Queue is what the waiting jobs take, in the order of the queue.
func (e *Engine) Queue() (units []int) {
	for w := range e.core.state.pending.all() {
		units = append(units, w.Units)
	}
	return units
}

// Sift is what a room says before a search of it and another one.
func Sift(room FreeSet, units int, beside FreeSet) bool {
	s, ok := room.(sifter)
	return ok && s.sift(Demand{Units: units}, []step{{freeSet: beside}})
}
