package report

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Kind says what numbers are: how they are written, and where they can lie at all.
type Kind int

// The kinds of numbers.
const (
	Number      Kind = iota // any
	NonNegative             // none is below 0
	Percent                 // of a whole: from 0 to 100
	Time                    // seconds, none below 0; written as h:mm:ss
)

// Text writes a number of the kind.
func (k Kind) Text(x float64) string {
	if k == Time {
		return (protocol.Duration(math.Round(x)) * protocol.Second).Text()
	}
	return number(x)
}

// within moves a bound of an interval about a mean to where numbers of the kind can
// lie, and not over the mean itself.
func (k Kind) within(bound, mean float64) float64 {
	if k != Number && bound < 0 {
		bound = min(0, mean)
	}
	if k == Percent && bound > 100 {
		bound = max(100, mean)
	}
	return bound
}

// Estimate is a mean and how sure it is.
type Estimate struct {
	Mean float64
	Half float64 // half of the 95 % confidence interval; 0 where one sample gives none
	N    int     // samples; 0: there is no value
}

// Interval is the mean of independent samples with Student's 95 % confidence interval.
func Interval(samples []float64) Estimate {
	switch len(samples) {
	case 0:
		return Estimate{}
	case 1:
		return Estimate{Mean: samples[0], N: 1}
	}
	n := float64(len(samples))
	mean, deviation := stat.MeanStdDev(samples, nil)
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile((1 + confidence) / 2)
	return Estimate{Mean: mean, Half: t * deviation / math.Sqrt(n), N: len(samples)}
}

// confidence is the probability that an interval covers the mean.
const confidence = 0.95

func (e Estimate) valid() error {
	if e.N < 0 || e.Half < 0 {
		return fmt.Errorf("an estimate has %d samples and a half interval of %g; neither can be negative", e.N, e.Half)
	}
	return drawable(e.Mean, e.Half)
}

func (e Estimate) text(k Kind) string {
	switch {
	case e.N == 0:
		return "–"
	case e.Half == 0:
		return k.Text(e.Mean)
	}
	return k.Text(e.Mean) + " ± " + k.Text(e.Half)
}

// interval is the 95 % confidence interval as far as numbers of the kind can lie in it:
// Student's is symmetric, and goes beyond that where few samples differ much.
func (e Estimate) interval(k Kind) (low, high float64) {
	return k.within(e.Mean-e.Half, e.Mean), k.within(e.Mean+e.Half, e.Mean)
}

// Bound says how a [Mark] is meant.
type Bound int

// What a text can say of a value.
const (
	Unstated Bound = iota // no value
	About                 // the value itself
	AtMost                // "less than"
	AtLeast               // "more than"
)

// Mark is a value that a text gives, to be shown beside an estimate.
type Mark struct {
	Value float64
	Bound Bound
}

func (m Mark) text(k Kind) string {
	if m.Bound == Unstated {
		return "–"
	}
	return m.Bound.Sign() + k.Text(m.Value)
}

// Sign stands before a value that is a bound.
func (b Bound) Sign() string {
	switch b {
	case AtMost:
		return "< "
	case AtLeast:
		return "> "
	case Unstated, About:
	}
	return ""
}

// Off is how far another value is from the one that is stated, or beyond the bound that is.
func (m Mark) Off(value float64) float64 {
	switch m.Bound {
	case AtMost:
		return max(0, value-m.Value)
	case AtLeast:
		return max(0, m.Value-value)
	case Unstated, About:
	}
	return math.Abs(value - m.Value)
}

// maxDrawn bounds what an axis is asked to show; times in seconds and counts stay
// far below it, and above it ticks lose their precision.
const maxDrawn = 1e15

func drawable(values ...float64) error {
	for _, v := range values {
		if math.IsNaN(v) || math.Abs(v) > maxDrawn {
			return fmt.Errorf("%g cannot be drawn; leave the point out or set N to 0", v)
		}
	}
	return nil
}

// number writes four significant digits, whole numbers in full.
func number(x float64) string {
	if math.Abs(x) >= 1000 {
		return grouped(strconv.FormatFloat(math.Round(x), 'f', 0, 64))
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

// grouped puts a thin space between thousands.
func grouped(digits string) string {
	sign := ""
	if digits[0] == '-' {
		sign, digits = "−", digits[1:]
	}
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "\u202f" + digits[at:]
	}
	return sign + digits
}
