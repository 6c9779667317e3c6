package report

// Block is what [Gantt] draws of a job, for tests.
type Block struct{ Site, Origin, Low, High, Start, End int }

// Pack is the private pack, for tests.
func (g Gantt) Pack() ([]Block, error) {
	blocks, _, err := g.pack()
	var out []Block
	for _, b := range blocks {
		out = append(out, Block{b.site, b.origin, b.low, b.high, int(b.start), int(b.end)})
	}
	return out, err
}

// Interval is what a figure shows of an estimate's interval.
func (e Estimate) Interval(k Kind) (low, high float64) { return e.interval(k) }

// TimeTicks are the labels of the ticks of an axis of times.
func TimeTicks(low, high float64) []string {
	var at []string
	for _, t := range newAxis(low, high, Time, false).ticks {
		at = append(at, t.label)
	}
	return at
}

// RoundTicks are the values of the ticks of a linear axis.
func RoundTicks(low, high float64) []float64 {
	var at []float64
	for _, t := range newAxis(low, high, Number, false).ticks {
		at = append(at, t.value)
	}
	return at
}
