package node

import "time"

const (
	// leastAhead is how many chunks of a file are under way at least.
	leastAhead = 2
	// firstAhead is how many are at first: 2 MiB, so that most files of jobs come in one round trip.
	firstAhead = 8
	// mostAhead is how many may be: 64 MiB, which fill 5 Gbit/s at a round trip of 100 ms.
	mostAhead = 256
	// aheadOfAll is how many chunks of all files together may be, above the least of each.
	aheadOfAll = 256
	// growth is by how many the window grows with each chunk that comes soon.
	growth = 3

	// A chunk that takes less than soon does not wait behind others, so one more may be under way.
	// One that takes longer than late does, and fewer should be.
	soon = time.Second
	late = 10 * time.Second
)

// window is how many chunks of a file are under way at once. It grows with each chunk that
// comes soon, fourfold within a round trip, and halves with each that comes late: on a
// slow link more requests under way would bring nothing sooner, and take memory.
type window struct {
	size int
	room chan struct{} // has a token for each chunk above the least, of all files
}

func newWindow(room chan struct{}) *window {
	w := &window{size: leastAhead, room: room}
	w.grow(firstAhead)
	return w
}

// arrived notes how long a chunk took.
func (w *window) arrived(took time.Duration) {
	switch {
	case took > late:
		w.shrink(w.size / 2)
	case took < soon:
		w.grow(min(w.size+growth, mostAhead))
	}
}

func (w *window) grow(to int) {
	for w.size < to {
		select {
		case w.room <- struct{}{}:
			w.size++
		default: // other files have it
			return
		}
	}
}

func (w *window) shrink(to int) {
	for w.size > max(to, leastAhead) {
		<-w.room
		w.size--
	}
}

// close gives back what the file has of the room.
func (w *window) close() { w.shrink(leastAhead) }
