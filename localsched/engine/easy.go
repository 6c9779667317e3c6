package engine

// EASY is first come first served with EASY backfilling: jobs start in the order
// of submission; the first that does not fit is given a reservation at the
// earliest time at which enough is free by estimates (the shadow), and later
// jobs may overtake it as long as they do not delay that. Nobody else has a
// reservation. [Lifka, The ANL/IBM SP scheduling system, JSSPP 1995]
func EASY() Policy { return easy{} }

type easy struct{}

func (easy) Compare(_, _ Waiting) int { return 0 }

func (easy) Lookup() bool { return true }

func (easy) Pass(f *Floor) Opening {
	f.StartHeads()
	head, ok := f.Head()
	if !ok {
		return Open(f.Room().Free())
	}
	shadow, beside := f.Reserve(head)
	left := Opening{Free: f.Room().Free(), Extra: beside.Free(), Shadow: shadow}
	c, ok := f.Next(Cursor{}.After(), left)
	for ; ok; c, ok = f.Next(c, left) {
		if !backfill(f, c, shadow.Sub(f.Now()) >= f.At(c).Time, beside) {
			c = c.After()
			continue
		}
		left.Free, left.Extra = f.Room().Free(), beside.Free()
	}
	return left
}

// backfill starts the job at c if it has a place. A short job is over by the
// shadow; another one must leave the head's place alone.
func backfill(f *Floor, c Cursor, short bool, beside Room) bool {
	units := f.At(c).Units
	if short {
		place, ok := f.Room().Find(units, nil)
		if ok {
			f.Start(c, place)
		}
		return ok
	}
	place, ok := f.Room().Find(units, beside)
	if ok {
		beside.Take(units, place)
		f.Start(c, place)
	}
	return ok
}
