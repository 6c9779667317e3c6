package pluginhost

import "sync"

// faults counts the failures in a row of each call by itself: that a plugin tells what
// happens says nothing about whether it takes jobs.
type faults struct {
	mu  sync.Mutex
	row map[string]int // by the name of the call
}

// add counts a failure of a call. It returns how many there are in a row.
func (f *faults) add(name string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.row == nil {
		f.row = map[string]int{}
	}
	f.row[name]++
	return f.row[name]
}

// forgive forgets the failures of a call.
func (f *faults) forgive(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.row, name)
}
