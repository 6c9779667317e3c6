package cost_test

import (
	"math"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/plugins/price/contract"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The peer asks both.
var (
	_ pricing.Costs     = (*cost.Charges)(nil)
	_ rules.WaitingCost = (*cost.WaitingCost)(nil)
)

func flat(perHour protocol.Micro) *cost.Curve { return cost.NewCurve(cost.Calendar{}, perHour, nil) }

// memoryBound is a job of [IS 4.2]'s example: at 2000 MHz it reaches 0.44 of the peak.
func memoryBound() *protocol.Spec {
	return &protocol.Spec{
		Request:          protocol.Request{CPUs: 1, WallTime: 2 * protocol.Hour},
		PredictedRunTime: protocol.Hour, Intensity: 440_000, Computing: protocol.PPM,
	}
}

// laptop has the two frequencies of the example.
func laptop() *cost.Eco {
	return &cost.Eco{Cooling: protocol.PPM, Frequencies: []int{2000, 800}, Slowdown: 100_000}
}

// bill is what the work costs; it must not be declined.
func bill(tb testing.TB, c *cost.Charges, w cost.Work) cost.Bill {
	tb.Helper()
	made, reason := c.Bill(w)
	if reason != "" {
		tb.Fatal(reason)
	}
	return made
}

func term(b cost.Bill, name string) protocol.Micro {
	for _, one := range b.Terms {
		if one.Name == name {
			return one.Amount
		}
	}
	return -1
}

// "A reduction by a factor of 2.5 of the processor frequency reduces its energy consumption
// by a factor of 6", and the performance by 10 %: the power falls to 1/6.25, the energy of
// the longer run to 1.1/6.25 = 1/5.68.
func TestFrequencyOfThePaper(t *testing.T) {
	t.Parallel()
	perMWh := 1000 * unit
	full := cost.Eco{Cooling: protocol.PPM, Price: &perMWh}
	slow := laptop()
	slow.Price = &perMWh
	w := cost.Work{Spec: memoryBound(), Run: protocol.Hour, Power: 100_000}
	was := bill(t, &cost.Charges{Eco: &full}, w)
	got := bill(t, &cost.Charges{Eco: slow}, w)
	if was.Run != protocol.Hour || was.MHz != 0 || term(was, cost.EcoTerm) != unit/10 {
		t.Errorf("at the full frequency: %+v", was)
	}
	if got.Run != 66*protocol.Minute || got.MHz != 800 || term(got, cost.EcoTerm) != 17_600 {
		t.Errorf("at the lower one: %+v", got)
	}
	if want := "at 800 MHz, the run takes 10.0 % longer"; got.Note != want {
		t.Errorf("it says %q, want %q", got.Note, want)
	}
	if by := float64(term(was, cost.EcoTerm)) / float64(term(got, cost.EcoTerm)); math.Round(by) != 6 {
		t.Errorf("the energy falls to 1/%.2f, the paper's is 1/6", by)
	}
}

func TestFrequencies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change  func(spec *protocol.Spec, eco *cost.Eco)
		wantMHz int
		wantRun protocol.Duration
	}{
		"as it is":              {func(*protocol.Spec, *cost.Eco) {}, 800, 66 * protocol.Minute},
		"a little less allowed": {func(_ *protocol.Spec, e *cost.Eco) { e.Slowdown-- }, 0, protocol.Hour},
		"the lowest that may be": {
			func(_ *protocol.Spec, e *cost.Eco) { e.Slowdown, e.Frequencies = 0, []int{2000, 1600, 1000, 880, 800} }, 880, protocol.Hour,
		},
		"no run time known":    {func(s *protocol.Spec, _ *cost.Eco) { s.PredictedRunTime = 0 }, 0, protocol.Hour},
		"no intensity known":   {func(s *protocol.Spec, _ *cost.Eco) { s.Intensity = 0 }, 0, protocol.Hour},
		"no share known":       {func(s *protocol.Spec, _ *cost.Eco) { s.Computing = 0 }, 0, protocol.Hour},
		"bound by the CPU":     {func(s *protocol.Spec, _ *cost.Eco) { s.Intensity = protocol.PPM }, 0, protocol.Hour},
		"half communication":   {func(s *protocol.Spec, _ *cost.Eco) { s.Computing /= 2 }, 800, 63 * protocol.Minute},
		"its limit is near":    {func(s *protocol.Spec, _ *cost.Eco) { s.WallTime = 65 * protocol.Minute }, 0, protocol.Hour},
		"its limit is passed":  {func(s *protocol.Spec, _ *cost.Eco) { s.WallTime = 50 * protocol.Minute }, 0, protocol.Hour},
		"its limit is reached": {func(s *protocol.Spec, _ *cost.Eco) { s.WallTime = 66 * protocol.Minute }, 800, 66 * protocol.Minute},
	} {
		spec, eco := memoryBound(), laptop()
		c.change(spec, eco)
		got := bill(t, &cost.Charges{Eco: eco}, cost.Work{Spec: spec, Run: protocol.Hour, Power: 1000})
		if got.MHz != c.wantMHz || got.Run != c.wantRun {
			t.Errorf("%s: %d MHz for %v, want %d for %v", name, got.MHz, got.Run, c.wantMHz, c.wantRun)
		}
	}
}

// Only the dynamic part of the power falls; cooling multiplies all of it.
func TestEcoTerm(t *testing.T) {
	t.Parallel()
	perMWh := -50 * unit
	meter := price.NewMeter(price.Series{Slots: []price.Slot{
		{Start: 0, Length: protocol.Hour, Price: 100 * unit}, {Start: 3_600_000, Length: protocol.Hour, Price: -20 * unit},
	}})
	megawatt := cost.Work{Spec: &protocol.Spec{}, Run: 2 * protocol.Hour, Power: 1_000_000_000, Prices: meter, Currency: "EUR"}
	slow := megawatt
	slow.Spec, slow.Run = memoryBound(), protocol.Hour
	unknown := megawatt
	unknown.Power = 0
	unpriced := megawatt
	unpriced.Prices = nil
	exchange := cost.Exchange{"CHF": unit, "EUR": 2 * unit}
	for name, c := range map[string]struct {
		charges cost.Charges
		work    cost.Work
		want    protocol.Micro // -1: no term
		note    string
	}{
		"by the clock": {cost.Charges{Currency: "EUR", Eco: &cost.Eco{Cooling: protocol.PPM}}, megawatt, 80 * unit, ""},
		"cooled":       {cost.Charges{Currency: "EUR", Eco: &cost.Eco{Cooling: 1_500_000}}, megawatt, 120 * unit, ""},
		"with CO2":     {cost.Charges{Currency: "EUR", Eco: &cost.Eco{Cooling: protocol.PPM, Carbon: unit / 10, Intensity: 100}}, megawatt, 100 * unit, ""},
		"exchanged":    {cost.Charges{Currency: "CHF", Exchange: exchange, Eco: &cost.Eco{Cooling: protocol.PPM}}, megawatt, 160 * unit, ""},
		"not to be exchanged": {
			cost.Charges{Currency: "CHF", Eco: &cost.Eco{Cooling: protocol.PPM}},
			megawatt, -1,
			`no cost of energy: "EUR" has no exchange rate; add it to [exchange_rates], with the same number at every site`,
		},
		"a negative price": {cost.Charges{Eco: &cost.Eco{Cooling: protocol.PPM, Price: &perMWh}}, megawatt, -100 * unit, ""},
		"half static": {
			cost.Charges{Eco: &cost.Eco{Cooling: protocol.PPM, Price: &perMWh, Static: 500_000, Slowdown: 100_000, Frequencies: []int{2000, 800}}},
			slow, -31_900_000, "at 800 MHz, the run takes 10.0 % longer", // 0.5 + 0.5·0.16 MW for 1.1 h
		},
		"unknown power": {cost.Charges{Eco: &cost.Eco{Cooling: protocol.PPM}}, unknown, -1, "no cost of energy: its power is not known"},
		"no prices":     {cost.Charges{Eco: &cost.Eco{Cooling: protocol.PPM}}, unpriced, -1, "no cost of energy: no prices are known"},
	} {
		got := bill(t, &c.charges, c.work)
		if term(got, cost.EcoTerm) != c.want || got.Note != c.note {
			t.Errorf("%s: got %d, want %d; it says %q", name, term(got, cost.EcoTerm), c.want, got.Note)
		}
	}
}

func TestUseAndLicenses(t *testing.T) {
	t.Parallel()
	charges := &cost.Charges{
		Currency: "CHF",
		CPU:      &cost.CPU{Own: flat(unit / 10), Guest: flat(unit / 5)},
		Classes:  map[string]int{"urgent": 1_500_000, "idle": 0},
		Licenses: map[string]cost.License{"solver": {PerUse: 5 * unit, PerHour: 2 * unit}, "mesh": {PerCPUHour: unit / 100}},
		Data:     cost.Data{PerGBIn: unit, PerGBOut: 3 * unit},
	}
	spec := protocol.Spec{Request: protocol.Request{CPUs: 10}, Data: 2_500_000_000, DataOut: 500_000_000}
	work := func(change func(w *cost.Work)) cost.Work {
		one := spec
		w := cost.Work{Spec: &one, Run: 90 * protocol.Minute}
		change(&w)
		return w
	}
	for name, c := range map[string]struct {
		work cost.Work
		want []protocol.Term
	}{
		"own": {work(func(*cost.Work) {}), []protocol.Term{{Name: "cpu", Amount: 1_500_000}}},
		"a guest's": {
			work(func(w *cost.Work) { w.Guest = true }), []protocol.Term{{Name: "cpu", Amount: 3_000_000}, {Name: "data", Amount: 4_000_000}},
		},
		"urgent": {work(func(w *cost.Work) { w.Spec.QOS = "urgent" }), []protocol.Term{{Name: "cpu", Amount: 2_250_000}}},
		"free":   {work(func(w *cost.Work) { w.Spec.QOS = "idle" }), []protocol.Term{{Name: "cpu", Amount: 0}}},
		"licensed": {
			work(func(w *cost.Work) {
				w.Spec.Resources = []protocol.Resource{protocol.NewLicense("mesh", 1), protocol.NewLicense("solver", 2), protocol.NewLicense("unpriced", 3)}
			}),
			[]protocol.Term{{Name: "cpu", Amount: 1_500_000}, {Name: "license", Amount: 2*8*unit + 150_000}},
		},
	} {
		got := bill(t, charges, c.work)
		if !reflect.DeepEqual(got.Terms, c.want) || got.Currency != "CHF" || got.Run != c.work.Run || got.MHz != 0 || got.Note != "" {
			t.Errorf("%s: got %+v, want %v", name, got, c.want)
		}
	}
}

// Where the start is not certain, CPUs cost the mean over the interval; in one price, as at any time.
func TestUseOverTheInterval(t *testing.T) {
	t.Parallel()
	hour := func(n protocol.Duration) protocol.Instant { return protocol.Instant(0).Add(n * protocol.Hour / 2) }
	rising := cost.NewCurve(cost.Calendar{}, 90*unit, []cost.Period{
		{Hours: []contract.Span{{From: 0, Until: 60}}, PerHour: 10 * unit}, {Hours: []contract.Span{{From: 60, Until: 120}}, PerHour: 30 * unit},
	})
	late := protocol.Instant(7_258_118_400_000).Add(-3 * protocol.Hour) // that of the prices' end
	for name, c := range map[string]struct {
		curve  *cost.Curve
		start  protocol.Instant
		starts price.Starts
		want   protocol.Micro
	}{
		// half of the starts lie in the hour at 10, and as much of the run in that at 30 as they are late
		"within two hours":    {rising, hour(1), price.Starts{Low: hour(0), Middle: hour(1), High: hour(2)}, 20 * unit},
		"all before the plan": {rising, hour(2), price.Starts{Low: hour(0), Middle: hour(2), High: hour(2)}, 24 * unit},
		"one point":           {rising, hour(1), price.At(hour(1)), 20 * unit},
		"none stated":         {rising, hour(2), price.Starts{}, 30 * unit},
		"one price":           {flat(7 * unit), hour(1), price.Starts{Low: hour(0), Middle: hour(1), High: hour(9)}, 7 * unit},
		"beyond the prices":   {rising, late, price.Starts{Low: late, Middle: late, High: protocol.Instant(protocol.Never)}, 90 * unit},
	} {
		w := cost.Work{Spec: &protocol.Spec{Request: protocol.Request{CPUs: 1}}, Start: c.start, Starts: c.starts, Run: protocol.Hour}
		if got := term(bill(t, &cost.Charges{CPU: &cost.CPU{Own: c.curve}}, w), cost.CPUTerm); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

// A site says all that it lacks.
func TestDeclines(t *testing.T) {
	t.Parallel()
	spec := protocol.Spec{Association: protocol.Association{QOS: "urgent"}}
	charges := &cost.Charges{Classes: map[string]int{"idle": 1}}
	got, reason := charges.Bill(cost.Work{Spec: &spec, Run: protocol.Never})
	for _, want := range []string{`no QOS "urgent" with a price`, "after the year 2199"} {
		if !strings.Contains(reason, want) {
			t.Errorf("%q does not say %q", reason, want)
		}
	}
	if strings.Contains(reason, "mesh") || !reflect.DeepEqual(got, cost.Bill{}) {
		t.Errorf("%q, %+v", reason, got)
	}
}

// What charges nothing has no terms.
func TestNothing(t *testing.T) {
	t.Parallel()
	got := bill(t, new(cost.Charges), cost.Work{Spec: &protocol.Spec{}, Run: protocol.Hour, Guest: true, Power: 1})
	if !reflect.DeepEqual(got, cost.Bill{Run: protocol.Hour}) {
		t.Errorf("got %+v", got)
	}
}

// Each term is the exact amount, rounded once; what is too large is the largest amount.
func TestTermsAreExact(t *testing.T) {
	t.Parallel()
	number := func(t *rapid.T, label string) int64 {
		return rapid.OneOf(rapid.Int64Range(0, 1000), rapid.Int64Range(0, 1_000_000_000_000), rapid.Int64Range(0, math.MaxInt64)).Draw(t, label)
	}
	rat := func(factors ...int64) *big.Rat {
		product := big.NewRat(1, 1)
		for _, f := range factors {
			product.Mul(product, big.NewRat(f, 1))
		}
		return product
	}
	check := func(t *rapid.T, got protocol.Micro, exact *big.Rat) {
		if exact.Cmp(rat(math.MaxInt64)) >= 0 {
			if got != math.MaxInt64 {
				t.Fatalf("got %d of %v, want the largest amount", got, exact.FloatString(1))
			}
			return
		}
		rounds(t, got, exact)
	}
	rapid.Check(t, func(t *rapid.T) {
		perHour, perUse, perCPU := number(t, "per hour"), number(t, "per use"), number(t, "per CPU")
		factor := number(t, "factor") % 1_000_000_000
		spec := protocol.Spec{
			Request: protocol.Request{
				CPUs: int(number(t, "cpus") % 100_000_000), Resources: []protocol.Resource{protocol.NewLicense("l", int(number(t, "count")%1_000_000))},
			}, Association: protocol.Association{QOS: "class"},
			Data: number(t, "in"), DataOut: number(t, "out"),
		}
		run := number(t, "run") % int64(200*365*protocol.Day)
		c := cost.Charges{
			CPU: &cost.CPU{Guest: flat(protocol.Micro(perHour))}, Classes: map[string]int{"class": int(factor)},
			Licenses: map[string]cost.License{"l": {PerUse: protocol.Micro(perUse), PerHour: protocol.Micro(perHour), PerCPUHour: protocol.Micro(perCPU)}},
			Data:     cost.Data{PerGBIn: protocol.Micro(perUse), PerGBOut: protocol.Micro(perCPU)},
		}
		got, reason := c.Bill(cost.Work{Spec: &spec, Run: protocol.Duration(run), Guest: true})
		if reason != "" {
			t.Fatal(reason)
		}
		cpus, count, hour := int64(spec.CPUs), int64(spec.Resources[0].Count), big.NewRat(1, 3_600_000)
		check(t, term(got, cost.CPUTerm), new(big.Rat).Mul(rat(perHour, run, cpus, factor), new(big.Rat).Mul(hour, big.NewRat(1, 1_000_000))))
		licenses := new(big.Rat).Add(rat(perHour, run), rat(perCPU, run, cpus))
		licenses.Add(licenses.Mul(licenses, hour), rat(perUse)).Mul(licenses, rat(count))
		check(t, term(got, cost.LicenseTerm), licenses)
		data := new(big.Rat).Add(rat(perUse, spec.Data), rat(perCPU, spec.DataOut))
		check(t, max(0, term(got, cost.DataTerm)), data.Mul(data, big.NewRat(1, 1_000_000_000)))
	})
}

func TestConvert(t *testing.T) {
	t.Parallel()
	exchange := cost.Exchange{"CHF": unit, "EUR": 940_000, "JPY": 5_700, "XXX": 0}
	for _, c := range []struct {
		amount   protocol.Micro
		from, to string
		want     protocol.Micro
	}{
		{10 * unit, "EUR", "CHF", 9_400_000},
		{1, "EUR", "CHF", 1},
		{-1, "EUR", "CHF", -1},
		{1, "JPY", "CHF", 0},
		{math.MaxInt64, "EUR", "JPY", math.MaxInt64},
		{-math.MaxInt64, "EUR", "JPY", -math.MaxInt64},
		{7, "ABC", "ABC", 7},
	} {
		if got, err := exchange.Convert(c.amount, c.from, c.to); err != nil || got != c.want {
			t.Errorf("%d %s in %s: got %d, %v; want %d", c.amount, c.from, c.to, got, err, c.want)
		}
	}
	for _, pair := range [][2]string{{"EUR", "ABC"}, {"ABC", "EUR"}, {"XXX", "EUR"}, {"EUR", "XXX"}} {
		if _, err := exchange.Convert(1, pair[0], pair[1]); err == nil || !strings.Contains(err.Error(), "[exchange_rates]") {
			t.Errorf("%v: %v", pair, err)
		}
	}
}

// K_eco of a contract is the power at the frequency, to a milliwatt, times run, price and CO2,
// rounded once; the run grows by the share that waits for the CPU, rounded up.
func TestEnergyIsExact(t *testing.T) {
	t.Parallel()
	const million = 1_000_000
	rapid.Check(t, func(t *rapid.T) {
		number := func(label string, least, most int64) int64 { return rapid.Int64Range(least, most).Draw(t, label) }
		whole := func(n int64) *big.Rat { return big.NewRat(n, 1) }
		times := func(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }
		perMWh := protocol.Micro(number("price", -1e12, 1e12))
		full := number("full MHz", 2, 5000)
		slow := number("slow MHz", (full+1)/2, full-1) // takes twice as long at most
		eco := &cost.Eco{
			Price: &perMWh, Carbon: protocol.Micro(number("carbon", 0, 1e9)), Intensity: int(number("intensity", 0, 1000)),
			Cooling: int(number("cooling", million, 3*million)), Static: int(number("static", 0, million)),
			Frequencies: []int{int(full), int(slow)}, Slowdown: million,
		}
		run, power := number("run", 1, int64(30*protocol.Day)), number("power", 1, 1e12)
		spec := &protocol.Spec{
			Request:          protocol.Request{WallTime: protocol.Never},
			PredictedRunTime: 1, Intensity: int(number("i", 1, million)), Computing: int(number("c", 1, million)),
		}
		got, reason := (&cost.Charges{Eco: eco}).Bill(cost.Work{Spec: spec, Run: protocol.Duration(run), Power: power})
		if reason != "" {
			t.Fatal(reason)
		}
		c, i := big.NewRat(int64(spec.Computing), million), big.NewRat(int64(spec.Intensity), million)
		bound := times(i, big.NewRat(full, slow))
		if bound.Cmp(whole(1)) < 0 {
			bound = whole(1)
		}
		longer := times(whole(run), new(big.Rat).Add(times(c, bound), new(big.Rat).Sub(whole(1), c)))
		short := new(big.Rat).Sub(whole(int64(got.Run)), longer)
		if got.MHz != int(slow) || short.Sign() < 0 || short.Cmp(whole(1)) >= 0 {
			t.Fatalf("%d MHz for %d ms, want %s", got.MHz, got.Run, longer.FloatString(3))
		}
		static, speed := big.NewRat(int64(eco.Static), million), big.NewRat(slow, full)
		share := new(big.Rat).Add(static, times(new(big.Rat).Sub(whole(1), static), times(speed, speed)))
		draw := times(times(whole(power), share), big.NewRat(int64(eco.Cooling), million)).FloatString(0) // halves away from 0
		mW, _ := new(big.Rat).SetString(draw)
		price := new(big.Rat).Add(whole(int64(perMWh)), times(whole(int64(eco.Carbon)), whole(int64(eco.Intensity))))
		rounds(t, term(got, cost.EcoTerm), times(times(mW, price), big.NewRat(int64(got.Run), 3_600_000*1_000_000_000)))
	})
}

func TestConvertIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		worth := rapid.Int64Range(1, 1_000_000_000_000)
		from, to := worth.Draw(t, "from"), worth.Draw(t, "to")
		amount := rapid.Int64Range(-1_000_000, 1_000_000).Draw(t, "amount")
		got, err := cost.Exchange{"A": protocol.Micro(from), "B": protocol.Micro(to)}.Convert(protocol.Micro(amount), "A", "B")
		if err != nil {
			t.Fatal(err)
		}
		rounds(t, got, new(big.Rat).Mul(big.NewRat(amount, 1), big.NewRat(from, to)))
	})
}

func TestObjectives(t *testing.T) {
	t.Parallel()
	for _, o := range cost.Objectives() {
		w, ok := o.Weights()
		if !ok || min(w.Alpha, w.Beta, w.Gamma, w.Delta) < 0 || w.Alpha+w.Beta+w.Gamma+w.Delta == 0 {
			t.Errorf("%s: %+v, %t", o, w, ok)
		}
	}
	if w, _ := cost.Cheapest.Weights(); w.Beta != 0 || w.Alpha != w.Gamma || w.Gamma != w.Delta {
		t.Errorf("what is cheapest is not the least bill: %+v", w)
	}
	if w, _ := cost.Fastest.Weights(); w.Alpha+w.Gamma+w.Delta != 0 {
		t.Errorf("what is fastest looks at the bill: %+v", w)
	}
	if _, ok := cost.Objective("fast").Weights(); ok {
		t.Error("an objective that there is not has weights")
	}
}

// BenchmarkBill is of a guest's job that runs for a day under all terms.
func BenchmarkBill(b *testing.B) {
	curve := figure1(b, zone(b, "Europe/Zurich"))
	eco := laptop()
	perMWh := 100 * unit
	eco.Price = &perMWh
	charges := &cost.Charges{
		CPU: &cost.CPU{Own: curve, Guest: curve}, Eco: eco, Licenses: map[string]cost.License{"l": {PerHour: unit}}, Data: cost.Data{PerGBIn: unit},
	}
	spec := memoryBound()
	spec.Resources, spec.Data, spec.WallTime = []protocol.Resource{protocol.NewLicense("l", 1)}, 1_000_000_000, 2*protocol.Day
	for b.Loop() {
		charges.Bill(cost.Work{Spec: spec, Start: 1_774_746_000_000, Run: protocol.Day, Guest: true, Power: 1_000_000})
	}
}

// BenchmarkBillOverAnInterval is of such a job whose start is not certain.
func BenchmarkBillOverAnInterval(b *testing.B) {
	curve := figure1(b, zone(b, "Europe/Zurich"))
	charges := &cost.Charges{CPU: &cost.CPU{Own: curve, Guest: curve}}
	const start protocol.Instant = 1_774_746_000_000
	w := cost.Work{
		Spec: memoryBound(), Start: start, Run: protocol.Day, Guest: true,
		Starts: price.Starts{Low: start, Middle: start.Add(protocol.Hour), High: start.Add(protocol.Day)},
	}
	for b.Loop() {
		charges.Bill(w)
	}
}

// TestLink: bytes and time are each rounded once; what is too large is the largest amount.
func TestLink(t *testing.T) {
	t.Parallel()
	link := cost.Link{PerGB: 500_000, PerHour: 3_600_000}
	for _, c := range []struct {
		in, out int64
		busy    protocol.Duration
		want    protocol.Micro
	}{
		{0, 0, 0, 0},
		{1_000_000_000, 3_000_000_000, 2 * protocol.Second, 2_002_000},
		{999, 0, 0, 0},
		{600, 400, 0, 1}, // half a millionth
		{math.MaxInt64, math.MaxInt64, protocol.Never, math.MaxInt64},
	} {
		if got := link.Cost(c.in, c.out, c.busy); got != c.want {
			t.Errorf("%d and %d bytes in %v cost %d, want %d", c.in, c.out, c.busy, got, c.want)
		}
	}
}
