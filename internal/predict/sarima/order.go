package sarima

import (
	"errors"
	"fmt"
)

// Order names a model, SARIMA(AR,Diff,MA)(SeasonalAR,SeasonalDiff,SeasonalMA)Period.
type Order struct {
	AR, Diff, MA                         int
	SeasonalAR, SeasonalDiff, SeasonalMA int
	Period                               int  // observations in a season; at least 2 if any seasonal part is used
	Mean                                 bool // estimate the mean, which is the drift of a series that is differenced
}

// MaxLag bounds the longest lag of a model, its time and its memory.
const MaxLag = 1024

// ParseOrder reads an order as people write it, "(1,0,1)(1,0,1)24" or "(1,0,1)". The
// model has a mean unless it differences, as R's arima takes it.
func ParseOrder(text string) (Order, error) {
	var o Order
	form := "(%d,%d,%d)(%d,%d,%d)%d"
	fields := []any{&o.AR, &o.Diff, &o.MA, &o.SeasonalAR, &o.SeasonalDiff, &o.SeasonalMA, &o.Period}
	n, err := fmt.Sscanf(text, form, fields...)
	if n == 3 && err != nil {
		o.SeasonalAR, o.SeasonalDiff, o.SeasonalMA, o.Period = 0, 0, 0, 0
	}
	if (n != 3 && n != 7) || o.String() != text {
		return Order{}, fmt.Errorf("order %q: write (p,d,q) or (p,d,q)(P,D,Q)s, such as (1,0,1)(1,0,1)24", text)
	}
	o.Mean = o.Diff+o.SeasonalDiff == 0
	if err := o.Validate(); err != nil {
		return Order{}, fmt.Errorf("order %q: %w", text, err)
	}
	return o, nil
}

// String is the order as [ParseOrder] reads it; whether there is a mean is not said.
func (o Order) String() string {
	text := fmt.Sprintf("(%d,%d,%d)", o.AR, o.Diff, o.MA)
	if o.seasonal() || o.Period != 0 {
		text += fmt.Sprintf("(%d,%d,%d)%d", o.SeasonalAR, o.SeasonalDiff, o.SeasonalMA, o.Period)
	}
	return text
}

// Validate says what is wrong with the order, if anything.
func (o Order) Validate() error {
	for _, n := range []int{o.AR, o.Diff, o.MA, o.SeasonalAR, o.SeasonalDiff, o.SeasonalMA, o.Period} {
		if n < 0 || n > MaxLag {
			return fmt.Errorf("%d is not from 0 to %d", n, MaxLag)
		}
	}
	if o.seasonal() && o.Period < 2 {
		return fmt.Errorf("a season of %d observations; a seasonal model needs at least 2", o.Period)
	}
	if lag := max(o.lagAR(), o.lagMA(), o.lagDiff()); lag > MaxLag {
		return fmt.Errorf("its longest lag is %d, more than %d", lag, MaxLag)
	}
	if o.coefficients() > maxCoefficients {
		return fmt.Errorf("%d coefficients; at most %d can be fitted", o.coefficients(), maxCoefficients)
	}
	if o.Diff+o.SeasonalDiff > 1 && o.Mean {
		return errors.New("a mean of second differences is a parabola; leave it out")
	}
	return nil
}

// maxCoefficients is more than any series of prices bears.
const maxCoefficients = 32

func (o Order) seasonal() bool { return o.SeasonalAR+o.SeasonalDiff+o.SeasonalMA > 0 }

func (o Order) lagAR() int   { return o.AR + o.Period*o.SeasonalAR }
func (o Order) lagMA() int   { return o.MA + o.Period*o.SeasonalMA }
func (o Order) lagDiff() int { return o.Diff + o.Period*o.SeasonalDiff }

// coefficients is how many numbers are searched for.
func (o Order) coefficients() int { return o.AR + o.MA + o.SeasonalAR + o.SeasonalMA }
