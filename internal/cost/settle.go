package cost

import (
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/int128"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Settle is what a job that ran from an instant on for d costs by its tariff: each charge is
// integrated exactly and rounded once, halves away from zero. Charges of one name are one term.
// Both sites of a job use it, so that their bills are equal.
func Settle(t *protocol.Tariff, start protocol.Instant, d protocol.Duration) protocol.Bill {
	bill := protocol.Bill{Start: start, Currency: t.Currency}
	for i := range t.Charges {
		c := &t.Charges[i]
		amount := c.Once.Plus(chargeRun(c, start, max(0, d)))
		at := slices.IndexFunc(bill.Terms, func(term protocol.Term) bool { return term.Name == c.Name })
		if at < 0 {
			bill.Terms = append(bill.Terms, protocol.Term{Name: c.Name, Amount: amount})
			continue
		}
		bill.Terms[at].Amount = bill.Terms[at].Amount.Plus(amount)
	}
	return bill
}

// chargeRun is what the hours of a run cost.
func chargeRun(c *protocol.Charge, start protocol.Instant, d protocol.Duration) protocol.Micro {
	var sum int128.Number
	from, end := start, start.Add(d)
	for i := range c.Steps {
		until := end
		if i+1 < len(c.Steps) {
			until = min(end, c.Steps[i+1].From)
		}
		if until > from {
			sum = sum.Plus(int128.Product(int64(c.Steps[i].PerHour), int64(until.Sub(from))))
			from = until
		}
	}
	return protocol.Micro(sum.Times(c.Units).Nearest(max(1, c.Per), int64(protocol.Hour)))
}

// steps are the curve's from one instant until another one, and after that its mean between
// them.
func (c *Curve) steps(from, until protocol.Instant) (all []protocol.PriceStep) {
	end := from
	for piece := range c.Pieces(from, until) {
		if n := len(all); n > 0 && all[n-1].PerHour == piece.PerHour {
			end = piece.Until
			continue
		}
		if len(all) == protocol.MaxSteps-1 {
			break
		}
		all = append(all, protocol.PriceStep{From: piece.From, PerHour: piece.PerHour})
		end = piece.Until
	}
	if len(all) < 2 { // it does not change
		return all
	}
	mean := c.integral(from, end).Nearest(max(1, int64(end.Sub(from))))
	return append(all, protocol.PriceStep{From: end, PerHour: protocol.Micro(mean)})
}

// tariff is what the site charges for the work, for its run at any time: exactly until an instant,
// and by the mean of the prices until then after it. It must be work that [Charges.Bill] does not
// decline.
func (c *Charges) tariff(w *Work, at speed) *protocol.Tariff {
	t := &protocol.Tariff{Currency: c.Currency}
	if c.CPU != nil {
		t.Charges = append(t.Charges, protocol.Charge{
			Name: CPUTerm, Units: int64(w.Spec.CPUs) * int64(c.factor(w.Spec)), Per: protocol.PPM,
			Steps: c.curve(w).steps(w.Start, w.Until),
		})
	}
	if len(w.Spec.Licenses()) > 0 {
		t.Charges = append(t.Charges, c.licenseCharge(w.Spec))
	}
	if c.Eco != nil && w.Power > 0 {
		t.Charges = append(t.Charges, c.ecoCharges(w, at)...)
	}
	if w.Guest && c.Data != (Data{}) {
		t.Charges = append(t.Charges, protocol.Charge{Name: DataTerm, Once: c.data(w.Spec)})
	}
	return t
}

func (c *Charges) licenseCharge(spec *protocol.Spec) protocol.Charge {
	var once, hourly int128.Number
	for _, one := range spec.Licenses() {
		l := c.Licenses[one.Type] // those without a price are free
		once = once.Plus(int128.Product(int64(l.PerUse), int64(one.Count)))
		each := int128.Whole(int64(l.PerHour)).Plus(int128.Product(int64(l.PerCPUHour), int64(spec.CPUs)))
		hourly = hourly.Plus(each.Times(int64(one.Count)))
	}
	return protocol.Charge{
		Name: LicenseTerm, Once: protocol.Micro(once.Nearest(1)), Units: 1, Per: 1,
		Steps: []protocol.PriceStep{{PerHour: protocol.Micro(hourly.Nearest(1))}},
	}
}

// ecoCharges are those for energy: by the prices of electricity or at one price, and for CO2.
func (c *Charges) ecoCharges(w *Work, at speed) (all []protocol.Charge) {
	flat := int128.Product(int64(c.Eco.Carbon), int64(c.Eco.Intensity))
	if c.Eco.Price != nil {
		flat = flat.Plus(int128.Whole(int64(*c.Eco.Price)))
	} else {
		steps := w.Prices.Steps(w.Start, w.Until)
		for i := range steps {
			amount, err := c.Exchange.Convert(steps[i].PerHour, w.Currency, c.Currency)
			if err != nil {
				return nil
			}
			steps[i].PerHour = amount
		}
		if len(steps) == 0 {
			return nil
		}
		all = append(all, protocol.Charge{Name: EcoTerm, Units: at.power, Per: protocol.Megawatt, Steps: steps})
	}
	if perMWh := flat.Nearest(1); perMWh != 0 {
		steps := []protocol.PriceStep{{PerHour: protocol.Micro(perMWh)}}
		all = append(all, protocol.Charge{Name: EcoTerm, Units: at.power, Per: protocol.Megawatt, Steps: steps})
	}
	return all
}
