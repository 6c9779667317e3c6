package cost

import (
	"fmt"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/int128"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Charges are what a site charges [IS 4.2]. They implement pricing.Costs, and do not change.
type Charges struct {
	Currency string
	CPU      *CPU           // nil: the use of CPUs costs nothing
	Classes  map[string]int // φ: factors of the CPU price in parts per million, by the class of priority
	Licenses map[string]License
	Eco      *Eco // nil: no term for energy
	Data     Data
	Exchange Exchange // for prices of electricity in another currency
}

// CPU is what a CPU costs an hour: k_e(t).
type CPU struct {
	Own   *Curve // for jobs of local users
	Guest *Curve // for those of other sites
}

// License is what one costs: k_l. All that is not 0 is added up.
type License struct {
	PerUse     protocol.Micro // each time a job starts with it
	PerHour    protocol.Micro // of the run
	PerCPUHour protocol.Micro // of the run, for each CPU of the job
}

// Eco is what energy and cooling cost: k_eco(t).
type Eco struct {
	Cooling     int             // power of all over that of the computers (PUE), in parts per million; a million or more
	Price       *protocol.Micro // of a MWh, whatever electricity costs by the clock; nil: by [Work.Prices]
	Carbon      protocol.Micro  // added for each kg of CO2
	Intensity   int             // g of CO2 for each kWh, which is kg for each MWh
	Frequencies []int           // at which CPUs can run, in MHz, falling; the first is the full one; empty: there is one
	Slowdown    int             // by how much a run may grow at a lower one, in parts per million
	Static      int             // share of the power that does not depend on the frequency, in parts per million
}

// Data is what the traffic of guests' jobs costs at this site: its part of K_d.
type Data struct {
	PerGBIn  protocol.Micro // a GB (10⁹ bytes) that comes with a job
	PerGBOut protocol.Micro // that goes back
}

// lastPriced is the end of 2199: what would run later has no price.
const lastPriced protocol.Instant = 7_258_118_400_000

// Bill is what the work costs. A reason says why the site does not offer what it needs; it
// is empty when it does.
func (c *Charges) Bill(w Work) (bill Bill, reason string) {
	if reason = c.declines(&w); reason != "" {
		return Bill{}, reason
	}
	at := speed{run: w.Run}
	if c.Eco != nil {
		at = c.Eco.choose(&w)
	}
	bill = Bill{Currency: c.Currency, Run: at.run, MHz: at.mhz, Note: at.words(w.Run)}
	if c.CPU != nil {
		bill.add(CPUTerm, c.use(&w, at.run))
	}
	if len(w.Spec.Licenses()) > 0 {
		bill.add(LicenseTerm, c.licenses(w.Spec, at.run))
	}
	if c.Eco != nil {
		amount, missing := c.eco(&w, at)
		if missing == "" {
			bill.add(EcoTerm, amount)
		} else {
			bill.note(missing)
		}
	}
	if w.Guest && c.Data != (Data{}) {
		bill.add(DataTerm, c.data(w.Spec))
	}
	if w.Until != 0 {
		bill.Tariff = c.tariff(&w, at)
	}
	return bill, ""
}

func (b *Bill) add(name string, amount protocol.Micro) {
	b.Terms = append(b.Terms, protocol.Term{Name: name, Amount: amount})
}

func (b *Bill) note(text string) {
	if b.Note != "" {
		b.Note += "; "
	}
	b.Note += text
}

// declines says all that the site does not offer.
func (c *Charges) declines(w *Work) string {
	var reasons []string
	if w.Start.Add(w.Run) > lastPriced {
		reasons = append(reasons, "it would run after the year 2199, for which the site has no prices")
	}
	if _, known := c.Classes[w.Spec.QOS]; !known && w.Spec.QOS != "" && len(c.Classes) > 0 {
		reasons = append(reasons, fmt.Sprintf("the site has no QOS %q with a price", w.Spec.QOS))
	}
	return strings.Join(reasons, "; ")
}

// use is K_e = CPUs · φ · ∫ k_e(t) dt over the run: the mean over the starts that are as likely as
// each other. Where the last of them is beyond the prices, that of the planned start.
func (c *Charges) use(w *Work, run protocol.Duration) protocol.Micro {
	curve, starts, of := c.curve(w), w.starts(), int64(1)
	var integral int128.Number
	if starts.Low == starts.High || starts.High.Add(run) > lastPriced {
		integral = curve.integral(w.Start, w.Start.Add(run))
	} else {
		for _, start := range starts.Tenths() {
			integral = integral.Plus(curve.integral(start, start.Add(run)))
		}
		of = price.StartTenths
	}
	return protocol.Micro(integral.Times(int64(w.Spec.CPUs)).Times(int64(c.factor(w.Spec))).Nearest(int64(protocol.Hour), protocol.PPM, of))
}

// curve is k_e(t) of the work.
func (c *Charges) curve(w *Work) *Curve {
	if w.Guest {
		return c.CPU.Guest
	}
	return c.CPU.Own
}

// factor is φ of the job's class.
func (c *Charges) factor(spec *protocol.Spec) int {
	if factor, classed := c.Classes[spec.QOS]; classed {
		return factor
	}
	return protocol.PPM
}

// licenses is K_l: the same at any time of the day.
func (c *Charges) licenses(spec *protocol.Spec, run protocol.Duration) protocol.Micro {
	var sum int128.Number
	for _, one := range spec.Licenses() {
		l := c.Licenses[one.Type] // those without a price are free
		each := int128.Product(int64(l.PerUse), int64(protocol.Hour)).
			Plus(int128.Product(int64(l.PerHour), int64(run))).
			Plus(int128.Product(int64(l.PerCPUHour), int64(run)).Times(int64(spec.CPUs)))
		sum = sum.Plus(each.Times(int64(one.Count)))
	}
	return protocol.Micro(sum.Nearest(int64(protocol.Hour)))
}

// eco is K_eco = P · ∫ (price(t) + CO2) dt over the run, with the power P at the run's
// frequency and with cooling. Without it missing says why.
func (c *Charges) eco(w *Work, at speed) (amount protocol.Micro, missing string) {
	if w.Power <= 0 {
		return 0, "no cost of energy: its power is not known"
	}
	flat := int128.Product(int64(c.Eco.Carbon), int64(c.Eco.Intensity))
	if c.Eco.Price != nil {
		return c.constant(flat.Plus(int128.Whole(int64(*c.Eco.Price))), at), ""
	}
	if w.Prices == nil {
		return 0, "no cost of energy: no prices are known"
	}
	energy, err := c.Exchange.Convert(w.Prices.MeanCost(at.power, w.starts(), at.run), w.Currency, c.Currency)
	if err != nil {
		return 0, "no cost of energy: " + err.Error()
	}
	return energy.Plus(c.constant(flat, at)), ""
}

// starts is when the work may start.
func (w *Work) starts() price.Starts {
	if w.Starts == (price.Starts{}) {
		return price.At(w.Start)
	}
	return w.Starts
}

// constant is what energy costs at so much a MWh.
func (c *Charges) constant(perMWh int128.Number, at speed) protocol.Micro {
	return protocol.Micro(perMWh.Times(at.power).Times(int64(at.run)).Nearest(protocol.Megawatt, int64(protocol.Hour)))
}

// Link is what a link costs the origin of the jobs whose data travel over it.
type Link struct {
	PerGB   protocol.Micro // a GB (10⁹ bytes), either way
	PerHour protocol.Micro // an hour in which data travel
}

// Cost is the link's part of K_d, for the bytes there and back that keep it busy for this
// time.
func (l Link) Cost(in, out int64, busy protocol.Duration) protocol.Micro {
	bytes := int128.Product(int64(l.PerGB), in).Plus(int128.Product(int64(l.PerGB), out))
	time := int128.Product(int64(l.PerHour), int64(busy))
	return protocol.Micro(bytes.Nearest(gigabyte)).Plus(protocol.Micro(time.Nearest(int64(protocol.Hour))))
}

// gigabyte is a GB, in bytes.
const gigabyte = 1_000_000_000

// data is the site's part of K_d.
func (c *Charges) data(spec *protocol.Spec) protocol.Micro {
	in := int128.Product(int64(c.Data.PerGBIn), spec.Data)
	out := int128.Product(int64(c.Data.PerGBOut), spec.DataOut)
	return protocol.Micro(in.Plus(out).Nearest(gigabyte))
}
