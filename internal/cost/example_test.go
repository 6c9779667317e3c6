package cost_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/plugins/price/contract"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// page is the example of docs/cost-model.md: what its tables say of each site.
type page map[string]map[string]string

// readPage takes all tables with a column for each of the two sites.
func readPage(t *testing.T) page {
	t.Helper()
	text, err := os.ReadFile("../../docs/cost-model.md")
	if err != nil {
		t.Fatal(err)
	}
	p := page{"alp": {}, "lake": {}}
	inside := false
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		switch {
		case strings.HasPrefix(line, "| | alp | lake |"):
			inside = true
		case !strings.HasPrefix(line, "|"):
			inside = false
		case inside && len(cells) == 3:
			p["alp"][cells[0]], p["lake"][cells[0]] = cells[1], cells[2]
		}
	}
	return p
}

// site is one column of the page.
type site struct {
	*testing.T

	name  string
	cells map[string]string
	read  map[string]bool
}

func (s *site) text(row string) string {
	s.Helper()
	if s.cells[row] == "" {
		s.Fatalf("the page has no row %q for %s", row, s.name)
	}
	s.read[row] = true
	return s.cells[row]
}

func (s *site) number(row string) float64 {
	s.Helper()
	return must[float64](s.T)(strconv.ParseFloat(s.text(row), 64))
}

// micro is a number in millionths.
func (s *site) micro(row string) protocol.Micro {
	s.Helper()
	number := s.number(row) * float64(unit)
	return protocol.Micro(number + 0.5)
}

func (s *site) duration(row string) protocol.Duration {
	s.Helper()
	return protocol.DurationOf(must[time.Duration](s.T)(time.ParseDuration(s.text(row))))
}

// want compares a row with what was worked out.
func (s *site) want(row string, got any) {
	s.Helper()
	text, _ := got.(string)
	if amount, isMoney := got.(protocol.Micro); isMoney {
		text = strconv.FormatFloat(float64(amount)/float64(unit), 'f', -1, 64)
	}
	if said := s.text(row); said != text {
		s.Errorf("%s, %s: the page says %s, it is %s", s.name, row, said, text)
	}
}

// charges are what the page says of the site.
func (s *site) charges(zone *time.Location) *cost.Charges {
	day := period(s.T, "", "mon-fri", "08:00-20:00", s.micro("CPU-hour, mon-fri 08:00-20:00 [CHF]"))
	curve := cost.NewCurve(cost.Calendar{Zone: zone}, s.micro("CPU-hour, else [CHF]"), []cost.Period{day})
	eco := &cost.Eco{Cooling: int(s.micro("cooling")), Static: int(s.micro("static share")), Slowdown: 100_000}
	for mhz := range strings.SplitSeq(s.text("frequencies [MHz]"), ", ") {
		eco.Frequencies = append(eco.Frequencies, must[int](s.T)(strconv.Atoi(mhz)))
	}
	return &cost.Charges{
		Currency: "CHF",
		CPU:      &cost.CPU{Own: curve, Guest: curve},
		Licenses: map[string]cost.License{"solver": {PerUse: s.micro("license per use [CHF]"), PerHour: s.micro("license per hour [CHF]")}},
		Eco:      eco,
		Data:     cost.Data{PerGBIn: s.micro("data in, per GB [CHF]"), PerGBOut: s.micro("data out, per GB [CHF]")},
	}
}

// electricity is the feed's prices of the evening.
func (s *site) electricity(zone *time.Location) *price.Meter {
	begin := at(s.T, zone, "2026-03-04 16:00")
	return price.NewMeter(price.Series{Slots: []price.Slot{
		{Start: begin, Length: protocol.Hour, Price: s.micro("electricity, 16:00-17:00 [CHF/MWh]")},
		{Start: begin.Add(protocol.Hour), Length: 7 * protocol.Hour, Price: s.micro("electricity, 17:00-24:00 [CHF/MWh]")},
	}})
}

func (s *site) spec() *protocol.Spec {
	return &protocol.Spec{
		Request: protocol.Request{CPUs: 100, WallTime: 4 * protocol.Hour, Resources: []protocol.Resource{protocol.NewLicense("solver", 1)}},
		Data:    2_000_000_000, DataOut: 1_000_000_000,
		PredictedRunTime: s.duration("run at the full frequency"), Intensity: int(s.micro("i = r_a/R∞")), Computing: int(s.micro("c, share in which it computes")),
	}
}

// TestExampleByHand works out again what docs/cost-model.md says of its example.
func TestExampleByHand(t *testing.T) {
	t.Parallel()
	zurich := zone(t, "Europe/Zurich")
	submitted := at(t, zurich, "2026-03-04 15:30")
	salary := cost.Salary{Curve: cost.NewCurve(cost.Calendar{Zone: zurich}, 0, []cost.Period{
		{Days: 0b0111110, Hours: []contract.Span{{From: 480, Until: 720}, {From: 780, Until: 1020}}, PerHour: 60 * unit},
	})}
	waiting := cost.WaitingCost{Currency: "CHF", Parts: []cost.WaitingPart{salary}}
	for name, cells := range readPage(t) {
		s := &site{T: t, name: name, cells: cells, read: map[string]bool{}}
		spec := s.spec()
		start := submitted.Add(s.duration("wait (AWT)"))
		got := bill(t, s.charges(zurich), cost.Work{
			Spec: spec, Start: start, Run: spec.PredictedRunTime, Guest: name == "alp",
			Power: 100 * int64(1000*s.number("power of a CPU [W]")), Prices: s.electricity(zurich), Currency: "CHF",
		})
		end := start.Add(got.Run).Add(s.duration("data back after the run"))
		rates, _ := waiting.Rates(submitted, submitted, end.Sub(submitted))
		application := policy.Application{WaitingCost: rates}
		s.compare(got, start, end, application.WaitCost(end.Sub(submitted)), zurich)
		for row := range cells {
			if !s.read[row] {
				t.Errorf("%s: nothing checks the row %q", name, row)
			}
		}
	}
}

// compare checks the second table.
func (s *site) compare(got cost.Bill, start, end protocol.Instant, wait protocol.Micro, zone *time.Location) {
	s.Helper()
	use, license, eco, data := term(got, cost.CPUTerm), term(got, cost.LicenseTerm), term(got, cost.EcoTerm), max(0, term(got, cost.DataTerm))
	s.want("start t^s", start.Time().In(zone).Format("15:04"))
	s.want("frequency [MHz]", strconv.Itoa(max(got.MHz, s.full(got))))
	s.want("run", strings.TrimSuffix(got.Run.String(), "0s"))
	s.want("completion t^d", end.Time().In(zone).Format("15:04:05"))
	s.want("K_e [CHF]", use)
	s.want("K_l [CHF]", license)
	s.want("K_eco [CHF]", eco)
	s.want("K_d [CHF]", data)
	s.want("bill [CHF]", use+license+eco+data)
	s.want("K_w [CHF]", wait)
	constant := 1000 * unit // of a MWh: an hour's cost is the power in kW
	s.want("power with cooling [kW]", s.power(constant))
	for _, o := range cost.Objectives() {
		w, _ := o.Weights()
		z := protocol.Micro(w.Alpha)*(use+license) + protocol.Micro(w.Beta)*wait + protocol.Micro(w.Gamma)*eco + protocol.Micro(w.Delta)*data
		s.want("z, "+string(o), z/protocol.PPM)
	}
}

// full is the frequency of a run at the full one.
func (s *site) full(got cost.Bill) int {
	if got.MHz > 0 {
		return 0
	}
	first, _, _ := strings.Cut(s.text("frequencies [MHz]"), ", ")
	return must[int](s.T)(strconv.Atoi(first))
}

// power is what the job draws, by what energy at one price costs in the hours of its run.
func (s *site) power(perMWh protocol.Micro) protocol.Micro {
	charges := s.charges(time.UTC)
	charges.Eco.Price = &perMWh
	spec := s.spec()
	got := bill(s.T, charges, cost.Work{Spec: spec, Run: spec.PredictedRunTime, Power: 100 * int64(1000*s.number("power of a CPU [W]"))})
	return protocol.Micro(int64(term(got, cost.EcoTerm)) * int64(protocol.Hour) / int64(got.Run))
}
