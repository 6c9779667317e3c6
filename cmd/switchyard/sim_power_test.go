package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
)

// blueDays writes a trace of a small Blue Gene for so many days: every 20 minutes a job of
// 1 to 4 midplanes comes and runs for an hour. It begins at 00:00 on the clock of Chicago.
func blueDays(t *testing.T, days int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("; UnixStartTime: 1231135200\n; TimeZoneString: America/Chicago\n; MaxProcs: 8192\n")
	for i := range days * 72 {
		fmt.Fprintf(&b, "%d %d -1 3600 %d -1 -1 -1 3600 -1 1 %d 1 1 1 1 -1 -1\n", i+1, i*1200, 2048<<(i%3)-i%2, i%7)
	}
	return tempFile(t, "blue.swf", b.String())
}

// blueArgs schedule it within a budget.
func blueArgs(trace string, more ...string) []string {
	return append([]string{
		"schedule", "--trace", trace, "--machine", "bgp", "--partitions", "racks 1x2", "--on-peak", "09:00-23:00",
	}, more...)
}

// scheduled is what these tests read of the JSON of sim schedule.
type scheduled struct {
	Jobs      int     `json:"jobs"`
	Mode      string  `json:"mode"`
	Budget    float64 `json:"budget_kw"`
	MeanPower float64 `json:"mean_power_kw"`
	MWh       float64 `json:"energy_mwh"`
	Cost      float64 `json:"energy_cost"`
	CPUHour   float64 `json:"energy_cost_per_cpu_hour"`
	Saving    float64 `json:"saving"`
	Raw       float64 `json:"raw_saving"`
	Inverse   int64   `json:"inverse_pairs"`
	Allocated float64 `json:"utilization_allocated"`
	Used      float64 `json:"utilization"`
	Makespan  float64 `json:"makespan_s"`

	Compare []scheduled `json:"compare"`
}

func scheduleOf(t *testing.T, args ...string) (read scheduled) {
	t.Helper()
	if err := json.Unmarshal([]byte(good(t, simulate(t, append(args, "--json")...))), &read); err != nil {
		t.Fatal(err)
	}
	return read
}

// TestSimScheduleWithinABudget: both modes save beside the default of the same run, whose mean
// power makes the budget, and no job is lost.
func TestSimScheduleWithinABudget(t *testing.T) {
	t.Parallel()
	args := blueArgs(blueDays(t, 4), "--power", "20-33", "--budget", "50%", "--mode", "both")
	got := scheduleOf(t, args...)
	if got.Mode != "window" || len(got.Compare) != 2 || got.Compare[0].Mode != "none" || got.Compare[1].Mode != "filter" {
		t.Fatalf("got %+v", got)
	}
	usual := got.Compare[0]
	if usual.Saving != 0 || usual.Raw != 0 || usual.Inverse != 0 || usual.Budget != 0 {
		t.Errorf("the default is compared with itself: %+v", usual)
	}
	for _, within := range []scheduled{got, got.Compare[1]} {
		if math.Abs(within.Budget-usual.MeanPower/2) > 1e-3 || within.Jobs != usual.Jobs || math.Abs(within.MWh-usual.MWh) > 1e-9 {
			t.Errorf("%s: %+v beside %+v", within.Mode, within, usual)
		}
		if within.Saving < 0.05 || math.Abs(within.Saving-(1-within.Cost/usual.Cost)) > 1e-9 || within.Inverse < 1 || within.Allocated <= within.Used {
			t.Errorf("%s: %+v beside %+v", within.Mode, within, usual)
		}
		if math.Abs(within.MeanPower*within.Makespan/3.6e6-within.MWh) > 1e-6 {
			t.Errorf("%s: %g kW for %g s are not %g MWh", within.Mode, within.MeanPower, within.Makespan, within.MWh)
		}
	}
	first, second := simulate(t, args...), simulate(t, args...)
	if good(t, first) != good(t, second) || !strings.Contains(first.stdout, "easy window") || !strings.Contains(first.stdout, "INVERSE PAIRS") {
		t.Errorf("got %+v, then %+v", first, second)
	}
	if other := scheduleOf(t, append(args, "--seed", "2")...); other.MWh == got.MWh {
		t.Error("another seed draws the same powers")
	}
	if moreExpensive := scheduleOf(t, append(args, "--price-ratio", "5")...); moreExpensive.Saving <= got.Saving {
		t.Errorf("at 1:5 %g are saved, at 1:3 %g", moreExpensive.Saving, got.Saving)
	}
}

// TestSimScheduleCostByHand: minute by minute, from the starts alone.
func TestSimScheduleCostByHand(t *testing.T) {
	t.Parallel()
	trace := blueDays(t, 3)
	args := blueArgs(trace, "--power", "20", "--idle-power", "12", "--price-ratio", "4")
	got := scheduleOf(t, args...)
	cost := 0.0
	for i, start := range startsOf(t, good(t, simulate(t, append(args, "--starts", "-")...))) {
		cpus := 2048<<(i%3) - i%2
		kilowatts := (20*float64(cpus) + 12*float64(i%2)) / 4096
		for minute := range 60 {
			price := 1.0
			if hour := (start/60 + minute) / 60 % 24; hour >= 9 && hour < 23 {
				price = 4
			}
			cost += kilowatts / 1000 / 60 * price
		}
	}
	if math.Abs(got.Cost-cost) > 1e-3*cost {
		t.Errorf("the energy costs %g, by hand %g", got.Cost, cost)
	}
	if got.Mode != "none" || got.Compare != nil || got.Saving != 0 {
		t.Errorf("there is no budget: %+v", got)
	}
}

// startsOf reads the CSV of starts, in seconds.
func startsOf(t *testing.T, text string) (starts []int) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		seconds, err := strconv.Atoi(row[1])
		if err != nil {
			t.Fatal(err)
		}
		starts = append(starts, seconds)
	}
	return starts
}

// TestSimScheduleCurves: their hours add up to the energy, and on-peak they keep the budget,
// but for what runs when it begins.
func TestSimScheduleCurves(t *testing.T) {
	t.Parallel()
	args := blueArgs(blueDays(t, 3), "--power", "20-33", "--budget-kw", "30", "--bound", "0")
	got := scheduleOf(t, args...)
	rows, err := csv.NewReader(strings.NewReader(good(t, simulate(t, append(args, "--curves", "-")...)))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	energy := map[string]float64{}
	for _, row := range rows[1:] {
		var numbers [4]float64
		for i := range numbers {
			if numbers[i], err = strconv.ParseFloat(row[i+1], 64); err != nil {
				t.Fatal(err)
			}
		}
		start, kilowatts, held, used := numbers[0], numbers[1], numbers[2], numbers[3]
		energy[row[0]] += kilowatts / 1000
		if hour := int(start) / 3600 % 24; row[0] == "easy window" && hour >= 10 && hour < 23 && kilowatts > 30 {
			t.Errorf("at %02d:00 %g kW are drawn", hour, kilowatts)
		}
		if held < used || held > 1 {
			t.Errorf("%s of the machine are held and %s used", row[3], row[4])
		}
	}
	if math.Abs(energy["easy window"]-got.MWh) > 0.02*got.MWh || math.Abs(energy["easy"]-got.MWh) > 0.02*got.MWh {
		t.Errorf("the curves have %v MWh, the schedule %g", energy, got.MWh)
	}
}

// TestSimScheduleOnNodes: a job holds whole nodes.
func TestSimScheduleOnNodes(t *testing.T) {
	t.Parallel()
	trace := tempFile(t, "t.swf", "1 0 -1 60 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n2 0 -1 60 5 -1 -1 5 60 -1 1 1 1 1 1 1 -1 -1\n")
	args := []string{"schedule", "--trace", trace, "--procs", "16", "--starts", "-"}
	if got := good(t, simulate(t, append(args, "--machine", "whole-node", "--cpus-per-node", "8")...)); got != "job_id,start\n1,0\n2,0\n" {
		t.Errorf("two nodes: %q", got)
	}
	if got := good(t, simulate(t, append(args, "--machine", "whole-node", "--cpus-per-node", "16")...)); got != "job_id,start\n1,0\n2,60\n" {
		t.Errorf("one node: %q", got)
	}
}

// TestSimSchedulePowerKeysAreDocumented.
func TestSimSchedulePowerKeysAreDocumented(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../docs/simulator.md")
	if err != nil {
		t.Fatal(err)
	}
	var shown map[string]any
	text := good(t, simulate(t, blueArgs(blueDays(t, 1), "--power", "20-33", "--budget", "60%", "--json")...))
	if err := json.Unmarshal([]byte(text), &shown); err != nil {
		t.Fatal(err)
	}
	if len(shown) < 20 {
		t.Errorf("only %d keys: %s", len(shown), text)
	}
	for key := range shown {
		if !bytes.Contains(guide, []byte("`"+key+"`")) {
			t.Errorf("docs/simulator.md does not explain %s", key)
		}
	}
}

// TestSimScheduleRefusesPower that means nothing.
func TestSimScheduleRefusesPower(t *testing.T) {
	t.Parallel()
	blue, bare := blueDays(t, 1), lublin
	bad := tempFile(t, "bad.csv", "card,A,4\npartition,P,5,torus,A\n")
	for name, c := range map[string]struct {
		args   []string
		code   int
		stderr string
	}{
		"nothing runs":      {blueArgs(blue, "--power", "20", "--budget-kw", "1", "--on-peak", "always"), 1, "no job ran; give a larger budget"},
		"no power":          {blueArgs(blue, "--budget", "50%"), 2, "--budget requires --power"},
		"curves":            {[]string{"schedule", "--trace", bare, "--curves", "x.csv"}, 2, "--curves requires --power or --watts-per-cpu"},
		"two budgets":       {blueArgs(blue, "--power", "20", "--budget", "50%", "--budget-kw", "3"), 2, "mutually exclusive"},
		"two powers":        {blueArgs(blue, "--power", "20", "--watts-per-cpu", "3"), 2, "mutually exclusive"},
		"other idle":        {blueArgs(blue, "--power", "20", "--idle-watts-per-cpu", "3"), 2, "use --idle-power"},
		"racks of what":     {[]string{"schedule", "--trace", bare, "--power", "20"}, 2, "use --watts-per-cpu"},
		"range backwards":   {blueArgs(blue, "--power", "33-20"), 2, "--power 33-20: a range begins above 0"},
		"no number":         {blueArgs(blue, "--power", "lots"), 2, "--power lots: write a number"},
		"no percent":        {blueArgs(blue, "--power", "20", "--budget", "50"), 2, "use a percentage of the mean power, such as 50%"},
		"no kilowatts":      {blueArgs(blue, "--power", "20", "--budget-kw", "-3"), 2, "--budget-kw: invalid value -3"},
		"bad mode":          {blueArgs(blue, "--power", "20", "--budget", "50%", "--mode", "wide"), 2, `--mode: unknown value "wide"; use window, filter, both`},
		"bad window":        {blueArgs(blue, "--power", "20", "--budget", "50%", "--window", "0"), 2, "--window: invalid value 0; use 1 to 10000"},
		"bad bound":         {blueArgs(blue, "--power", "20", "--budget", "50%", "--bound", "soon"), 2, "--bound soon is not a valid duration"},
		"idle mode":         {blueArgs(blue, "--power", "20", "--mode", "filter"), 2, "--mode requires --budget"},
		"idle window":       {blueArgs(blue, "--power", "20", "--window", "5"), 2, "--window requires --budget or --budget-kw"},
		"idle bound":        {blueArgs(blue, "--power", "20", "--bound", "1h"), 2, "--bound requires --budget or --budget-kw"},
		"idle ratio":        {[]string{"schedule", "--trace", bare, "--watts-per-cpu", "3", "--price-ratio", "2"}, 2, "--price-ratio requires --on-peak"},
		"idle start":        {[]string{"schedule", "--trace", bare, "--watts-per-cpu", "3", "--start", "2009-01-05 00:00"}, 2, "--start requires --on-peak"},
		"idle draws more":   {blueArgs(blue, "--power", "5-10"), 2, "--idle-power 13: what is held idle draws at most as much as what works, --power 5-10"},
		"idle CPUs too":     {[]string{"schedule", "--trace", bare, "--watts-per-cpu", "1-2", "--idle-watts-per-cpu", "1.5"}, 2, "--idle-watts-per-cpu 1.5: what"},
		"smallest of none":  {blueArgs(blue, "--smallest", "0"), 2, "--smallest: invalid value 0; use at least 1"},
		"smallest of less":  {blueArgs(blue, "--smallest", "-3"), 2, "--smallest: invalid value -3"},
		"bad hours":         {blueArgs(blue, "--power", "20", "--on-peak", "9-23"), 2, "--on-peak: "},
		"bad zone":          {blueArgs(blue, "--power", "20", "--time-zone", "Chicago"), 2, `--time-zone: invalid time zone "Chicago"`},
		"bad start":         {blueArgs(blue, "--power", "20", "--start", "noon"), 2, "--start: "},
		"bad ratio":         {blueArgs(blue, "--power", "20", "--price-ratio", "0"), 2, "--price-ratio: invalid value 0; use a number above 0"},
		"no beginning":      {[]string{"schedule", "--trace", tempFile(t, "t.swf", "1 0 -1 60 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n"), "--procs", "4", "--watts-per-cpu", "3", "--on-peak", "09:00-23:00"}, 2, "say with --start what the clock showed"},
		"procs of bgp":      {blueArgs(blue, "--procs", "3"), 2, "--procs does not apply to --machine bgp"},
		"layout of no bgp":  {[]string{"schedule", "--trace", bare, "--smallest", "64"}, 2, "--smallest does not apply to --machine per-cpu"},
		"unknown machine":   {[]string{"schedule", "--trace", bare, "--machine", "cray"}, 2, `--machine: unknown value "cray"`},
		"odd nodes":         {[]string{"schedule", "--trace", bare, "--procs", "9", "--machine", "whole-node", "--cpus-per-node", "2"}, 2, "9 processors are not a multiple of 2 per node"},
		"nothing so large":  {blueArgs(blue, "--power", "20", "--smallest", "4096"), 2, "--smallest: the layout has no partition of at least 4096 nodes"},
		"bad racks":         {blueArgs(blue, "--power", "20", "--partitions", "racks 9"), 2, "are no racks"},
		"partitions lost":   {blueArgs(blue, "--power", "20", "--partitions", "none.csv"), 3, "none.csv: no such file"},
		"partitions wrong":  {blueArgs(blue, "--power", "20", "--partitions", bad), 1, "bad.csv:2: P is to have 5 nodes"},
		"two on the output": {blueArgs(blue, "--power", "20", "--curves", "-", "--starts", "-"), 2, "can use the standard output"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := simulate(t, c.args...); got.code != c.code || !strings.Contains(got.stderr, c.stderr) || got.stdout != "" {
				t.Errorf("got %+v, not %d with %q", got, c.code, c.stderr)
			}
		})
	}
}
