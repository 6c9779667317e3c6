package gamma_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/predict/gamma"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const seeds = 20

// truths are components of a class as they really are: with 5 % of noise and up to 30 % of
// overlap.
func truths(c *class) (some []*truth) {
	for seed := range seeds {
		random := rand.New(rand.NewPCG(uint64(seed), 3))
		some = append(some, &truth{behavior: c.behavior, overlap: 0.3 * random.Float64(), noise: 0.05, random: random})
	}
	return some
}

// TestWrongAtFirst: whatever the user states, five runs on a machine tell how long the next
// one takes there, even if nothing but their run time was measured.
func TestWrongAtFirst(t *testing.T) {
	t.Parallel()
	for name, has := range map[string]counters{"nothing": {}, "CPU time": {cpu: true}, "everything": all()} {
		t.Run(name+" measured", func(t *testing.T) {
			t.Parallel()
			for _, c := range classes(t) {
				for _, s := range park(t) {
					for _, truth := range truths(&c) {
						k := gamma.Learn(truth.wrong(), truth.runs(5, &s, []int{c.cpus}, has))
						p, source, _ := k.Expect(s.name, s.machine, c.cpus)
						if e := off(p.Time, truth.seconds(&s.machine, c.cpus)); e > 0.10 || source != "5 runs there" {
							t.Errorf("%s on %s: %s, %.0f %% off", c.name, s.name, source, 100*e)
						}
					}
				}
			}
		})
	}
}

// TestElsewhere: five runs on one machine tell how long the next one takes on any other, if
// the amounts were counted. That includes the bus, as the teacher and as the taught.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	for name, stated := range map[string]func(*truth) protocol.Behavior{
		"wrong": (*truth).wrong,
		"not":   func(*truth) protocol.Behavior { return protocol.Behavior{} },
	} {
		t.Run(name+" stated", func(t *testing.T) {
			t.Parallel()
			for _, c := range classes(t) {
				if worst, where := elsewhere(t, &c, all(), stated); worst > 0.25 {
					t.Errorf("%s: %.0f %% off %s", c.name, 100*worst, where)
				}
			}
		})
	}
}

// elsewhere is the largest error of what is expected after five runs on one machine of runs
// on another, and of which.
func elsewhere(
	t *testing.T, c *class, has counters, stated func(*truth) protocol.Behavior,
) (worst float64, where string) {
	t.Helper()
	sites := park(t)
	for _, truth := range truths(c) {
		for _, s := range sites {
			k := gamma.Learn(stated(truth), truth.runs(5, &s, []int{c.cpus}, has))
			for _, other := range sites {
				p, _, ok := k.Expect(other.name, other.machine, c.cpus)
				if !ok {
					t.Fatalf("%s: nothing is expected on %s after runs on %s", c.name, other.name, s.name)
				}
				if e := off(p.Time, truth.seconds(&other.machine, c.cpus)); e > worst {
					worst, where = e, "on "+string(other.name)+" after runs on "+string(s.name)
				}
			}
		}
	}
	return worst, where
}

// TestCounters shows what must be counted, where a run on one machine cannot tell it.
func TestCounters(t *testing.T) {
	t.Parallel()
	found := make(map[string]class)
	for _, c := range classes(t) {
		found[c.name] = c
	}
	for name, c := range map[string]struct {
		class         string
		without, with counters
	}{
		"W of what reaches the peak": {
			"transposed", counters{cpu: true, flop: true, network: true}, all(),
		},
		"S and Z of what hardly communicates": {
			"neighbours", counters{cpu: true, flop: true, words: true}, all(),
		},
		"S and Z apart": {
			"shared", counters{cpu: true, flop: true, words: true}, all(),
		},
		"O and W without CPU time": {
			"farmed", counters{}, counters{flop: true, words: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			of := found[c.class]
			if worst, _ := elsewhere(t, &of, c.without, (*truth).wrong); worst < 0.25 {
				t.Errorf("without the counters the error is %.2f at most: they are not needed", worst)
			}
			if worst, where := elsewhere(t, &of, c.with, (*truth).wrong); worst > 0.25 {
				t.Errorf("with the counters it is %.2f off %s", worst, where)
			}
		})
	}
}

// TestSecondMachine: what one machine cannot tell, a second one with another V_m can, without
// a counter.
func TestSecondMachine(t *testing.T) {
	t.Parallel()
	small, wide := machine(), machine()
	small.Words /= 8
	wide.Words *= 2
	first, second, third := site{name: "a", machine: machine()}, site{name: "b", machine: small}, site{name: "c", machine: wide}
	for seed := range uint64(seeds) {
		one := truth{
			behavior: protocol.Behavior{Mflop: 1e7, Mwords: 1e6}, noise: 0.05, random: rand.New(rand.NewPCG(seed, 1)),
		}
		stated := one.wrong()
		runs := slices.Concat(
			one.runs(5, &first, []int{1}, counters{}),  // at the peak
			one.runs(5, &second, []int{1}, counters{}), // bound by memory
		)
		k := gamma.Learn(stated, runs)
		p, source, _ := k.Expect(third.name, third.machine, 1)
		if e := off(p.Time, one.seconds(&wide, 1)); e > 0.10 || source != "10 runs elsewhere" {
			t.Errorf("seed %d: %s, %.0f %% off", seed, source, 100*e)
		}
		b := k.Behavior()
		if math.Abs(float64(b.Mflop)/1e7-1) > 0.1 || math.Abs(float64(b.Mwords)/1e6-1) > 0.1 {
			t.Errorf("seed %d: learnt O = %d, W = %d of 10000000, 1000000 Mflop and Mwords", seed, b.Mflop, b.Mwords)
		}
	}
}

// TestOtherCPUs: runs on two numbers of CPUs tell those between and around.
func TestOtherCPUs(t *testing.T) {
	t.Parallel()
	for _, c := range classes(t) {
		if c.cpus == 1 {
			continue
		}
		for _, s := range park(t) {
			for _, truth := range truths(&c) {
				k := gamma.Learn(truth.wrong(), truth.runs(6, &s, []int{c.cpus, c.cpus / 4}, all()))
				for _, cpus := range []int{c.cpus / 4, c.cpus / 2, c.cpus, 2 * c.cpus} {
					p, _, _ := k.Expect(s.name, s.machine, cpus)
					if e := off(p.Time, truth.seconds(&s.machine, cpus)); e > 0.20 {
						t.Errorf("%s on %d CPUs of %s: %.0f %% off", c.name, cpus, s.name, 100*e)
					}
				}
			}
		}
	}
}

// TestRatioOfPeaks: of a component that nobody said anything of, and whose run time alone
// was measured, the peaks tell.
func TestRatioOfPeaks(t *testing.T) {
	t.Parallel()
	k := gamma.Learn(protocol.Behavior{}, []gamma.Execution{{Site: "a", Machine: machine(), CPUs: 1, Ran: 60_000}})
	faster := machine()
	faster.Flops = 6e9
	if p, _, ok := k.Expect("b", faster, 1); !ok || off(p.Time, 40) > 0.01 {
		t.Errorf("expects %v on a machine that is half as fast again, want 40 s", p.Time)
	}
}

// TestWithoutMachine: where a site does not say what its machine can do, the CPU time of the
// runs there is expected again.
func TestWithoutMachine(t *testing.T) {
	t.Parallel()
	k := gamma.Learn(protocol.Behavior{}, []gamma.Execution{{Site: "a", CPUs: 4, Ran: 60_000}})
	if p, source, ok := k.Expect("a", protocol.Machine{}, 8); !ok || p.Time != 30_000 || source != "1 run there" {
		t.Errorf("expects %v by %s, want 30 s", p.Time, source)
	}
	if p, source, ok := k.Expect("b", machine(), 8); ok {
		t.Errorf("expects %v by %s where nothing is known", p.Time, source)
	}
}

func TestStatedOnly(t *testing.T) {
	t.Parallel()
	b := protocol.Behavior{Mflop: 16_000_000, Mwords: 8_000_000, Sent: 2e9, Messages: 1e6, CPUs: 8}
	k := gamma.Learn(b, nil)
	if p, source, ok := k.Expect("a", machine(), 8); !ok || p != gamma.Predict(b, machine(), 8) || source != "as stated" {
		t.Errorf("expects %+v by %s", p, source)
	}
	if k.Behavior() != b {
		t.Errorf("knows %+v, not what was stated", k.Behavior())
	}
	nothing := gamma.Learn(protocol.Behavior{}, nil)
	if _, _, ok := nothing.Expect("a", machine(), 8); ok {
		t.Error("expects something of nothing")
	}
}

// TestDraws: a component draws at a site what it drew there, else what it drew elsewhere.
func TestDraws(t *testing.T) {
	t.Parallel()
	ran := func(site protocol.SiteName, ppm, mhz int) gamma.Execution {
		return gamma.Execution{Site: site, MHz: 2000, CPUs: 4, Ran: protocol.Hour, Usage: protocol.Usage{Power: ppm, MHz: mhz}}
	}
	for name, c := range map[string]struct {
		runs []gamma.Execution
		want int
	}{
		"never measured":       {[]gamma.Execution{ran("here", 0, 0)}, 0},
		"measured here":        {[]gamma.Execution{ran("here", 400_000, 0), ran("there", 900_000, 0), ran("there", 900_000, 0)}, 400_000},
		"measured elsewhere":   {[]gamma.Execution{ran("here", 0, 0), ran("there", 900_000, 2000)}, 900_000},
		"one is an outlier":    {[]gamma.Execution{ran("here", 400_000, 0), ran("here", 9, 0), ran("here", 410_000, 0)}, 400_000},
		"at a lower frequency": {[]gamma.Execution{ran("here", 100_000, 800), ran("there", 900_000, 2000)}, 900_000},
	} {
		k := gamma.Learn(protocol.Behavior{}, c.runs)
		if got := k.Draws("here", 4); got != c.want {
			t.Errorf("%s: %d ppm, want %d", name, got, c.want)
		}
		if got := k.Draws("here", 0); got != 0 {
			t.Errorf("%s: no CPUs draw %d ppm", name, got)
		}
	}
}

// TestOutliers: a run now and then that took four times as long does not count.
func TestOutliers(t *testing.T) {
	t.Parallel()
	c, s := classes(t)[1], park(t)[2]
	for _, truth := range truths(&c) {
		runs := truth.runs(10, &s, []int{c.cpus}, all())
		runs[3].Ran *= 4
		runs[7].Ran *= 4
		k := gamma.Learn(truth.wrong(), runs)
		for _, at := range park(t) {
			p, _, _ := k.Expect(at.name, at.machine, c.cpus)
			if e := off(p.Time, truth.seconds(&at.machine, c.cpus)); e > 0.25 || at.name == s.name && e > 0.10 {
				t.Errorf("on %s: %.0f %% off", at.name, 100*e)
			}
		}
	}
}

// TestChange: a component that does three times as much from some day on is believed after
// five runs, and at once if the user says so.
func TestChange(t *testing.T) {
	t.Parallel()
	c, s := classes(t)[1], park(t)[2]
	larger := c.behavior
	larger.Mflop *= 3
	larger.Mwords *= 3
	larger.Sent *= 3
	larger.Messages *= 3
	for _, before := range truths(&c) {
		after := *before
		after.behavior = larger
		runs := before.runs(20, &s, []int{c.cpus}, all())
		for i := range runs {
			runs[i].Stated = c.behavior
		}
		reported := gamma.Learn(larger, runs)
		p, _, _ := reported.Expect(s.name, s.machine, c.cpus)
		if e := off(p.Time, after.seconds(&s.machine, c.cpus)); e > 0.10 {
			t.Errorf("told: %.0f %% off", 100*e)
		}
		for i := range 5 {
			late := after.run(&s, c.cpus, protocol.Instant(100+i), all())
			late.Stated = c.behavior
			runs = append(runs, late)
		}
		seen := gamma.Learn(c.behavior, runs)
		p, _, _ = seen.Expect(s.name, s.machine, c.cpus)
		if e := off(p.Time, after.seconds(&s.machine, c.cpus)); e > 0.10 {
			t.Errorf("seen: %.0f %% off", 100*e)
		}
	}
}

// TestSlowClock: a run at half the frequency tells of one at full speed.
func TestSlowClock(t *testing.T) {
	t.Parallel()
	slow := machine()
	slow.Flops /= 2
	b := protocol.Behavior{Mflop: 8_000_000}
	k := gamma.Learn(b, []gamma.Execution{{
		Site: "a", Machine: machine(), MHz: 2000, CPUs: 1, Ran: gamma.Predict(b, slow, 1).Time,
		Usage: protocol.Usage{MHz: 1000},
	}})
	if p, _, _ := k.Expect("a", machine(), 1); off(p.Time, 2000) > 0.01 {
		t.Errorf("expects %v at full speed, want 2000 s", p.Time)
	}
}

// TestPolling: a CPU time as long as the run says nothing about computing, since processes
// poll for their messages.
func TestPolling(t *testing.T) {
	t.Parallel()
	c, s := classes(t)[2], park(t)[1] // most of the time is communication
	for _, truth := range truths(&c) {
		runs := truth.runs(5, &s, []int{c.cpus}, counters{network: true})
		for i := range runs {
			runs[i].Usage.CPU = runs[i].Ran * protocol.Duration(c.cpus)
		}
		k := gamma.Learn(c.behavior, runs)
		p, _, _ := k.Expect(s.name, s.machine, c.cpus)
		if p.Computing > 300_000 {
			t.Errorf("takes %d ppm of a run for computing that is communication", p.Computing)
		}
	}
}

// TestOrder: the order of the executions does not matter.
func TestOrder(t *testing.T) {
	t.Parallel()
	c, sites := classes(t)[1], park(t)
	truth := truths(&c)[0]
	stated := truth.wrong()
	runs := slices.Concat(
		truth.runs(20, &sites[1], []int{c.cpus}, all()), truth.runs(20, &sites[2], []int{c.cpus, 64}, counters{}),
	)
	want := gamma.Learn(stated, runs)
	rapid.Check(t, func(t *rapid.T) {
		shuffled := rapid.Permutation(runs).Draw(t, "runs")
		got := gamma.Learn(stated, shuffled)
		for _, s := range sites {
			a, _, _ := want.Expect(s.name, s.machine, c.cpus)
			b, _, _ := got.Expect(s.name, s.machine, c.cpus)
			if a != b {
				t.Errorf("%+v, but %+v in another order", a, b)
			}
		}
	})
}

// TestScarceMemory: counted operations tell that the memory bounded the run, whatever the
// user says. Then a higher peak does not help.
func TestScarceMemory(t *testing.T) {
	t.Parallel()
	faster := machine()
	faster.Flops *= 2
	run := gamma.Execution{
		Site: "a", Machine: machine(), CPUs: 1, Ran: 10_000_000, Usage: protocol.Usage{Mflop: 4_000_000},
	}
	for name, stated := range map[string]protocol.Behavior{
		"nothing stated": {}, "no accesses stated": {Mflop: 4_000_000},
	} {
		k := gamma.Learn(stated, []gamma.Execution{run})
		if p, _, _ := k.Expect("b", faster, 1); off(p.Time, 10_000) > 0.05 {
			t.Errorf("%s: expects %v of a machine with the same memory, want 10000 s", name, p.Time)
		}
	}
}

// TestWaitingForMessages: CPU times tell how much of the run was communication, whether
// the user states that wrongly or not at all.
func TestWaitingForMessages(t *testing.T) {
	t.Parallel()
	quick := machine()
	quick.Network *= 1000
	run := gamma.Execution{
		Site: "a", Machine: machine(), CPUs: 8, Ran: 2_000_000, Usage: protocol.Usage{CPU: 8 * 1_000_000},
	}
	for name, stated := range map[string]protocol.Behavior{
		"nothing stated": {}, "wrongly stated": {Mflop: 32_000_000, Sent: 2e11, CPUs: 8},
	} {
		k := gamma.Learn(stated, []gamma.Execution{run})
		if p, _, _ := k.Expect("b", quick, 8); off(p.Time, 1000) > 0.10 {
			t.Errorf("%s: expects %v of a machine with a better network, want 1000 s", name, p.Time)
		}
	}
}

// TestHidden: what one machine hides of the communication, another does too.
func TestHidden(t *testing.T) {
	t.Parallel()
	double := machine()
	double.Flops, double.Words, double.Network = 2*double.Flops, 2*double.Words, 2*double.Network
	here := site{name: "a", machine: machine()}
	one := truth{
		behavior: protocol.Behavior{Mflop: 32_000_000, Mwords: 1e6, Sent: 16e9, CPUs: 8},
		overlap:  0.3, random: rand.New(rand.NewPCG(1, 1)),
	}
	k := gamma.Learn(one.behavior, one.runs(5, &here, []int{8}, all()))
	if p, _, _ := k.Expect("b", double, 8); off(p.Time, one.seconds(&double, 8)) > 0.03 {
		t.Errorf("expects %v, want %.0f s", p.Time, one.seconds(&double, 8))
	}
}

// TestUnexplained: what the model does not explain at a site stays there, with the number of
// CPUs where it was.
func TestUnexplained(t *testing.T) {
	t.Parallel()
	stated := protocol.Behavior{Mflop: 32_000_000}
	var runs []gamma.Execution
	for at := range protocol.Instant(4) {
		run := gamma.Execution{Site: "plain", Machine: machine(), CPUs: 8, Ran: 1_000_000, At: at}
		slow := run
		slow.Site, slow.Ran = "slow", 3_000_000
		more := slow
		more.CPUs = 64
		runs = append(runs, run, slow, more)
	}
	k := gamma.Learn(stated, runs)
	for _, c := range []struct {
		site    protocol.SiteName
		cpus    int
		seconds float64
	}{{"plain", 8, 1000}, {"slow", 8, 3000}, {"slow", 64, 3000}} {
		if p, _, _ := k.Expect(c.site, machine(), c.cpus); off(p.Time, c.seconds) > 0.01 {
			t.Errorf("%s, %d CPUs: expects %v, it always took %g s", c.site, c.cpus, p.Time, c.seconds)
		}
	}
}

// TestStatedThen: a run is compared with what was stated of it, not of the next.
func TestStatedThen(t *testing.T) {
	t.Parallel()
	run := gamma.Execution{
		Site: "a", Machine: machine(), CPUs: 64, Ran: 10_000_000, Stated: protocol.Behavior{Mflop: 4_000_000},
		Usage: protocol.Usage{Mflop: 4_000_000}, // a hundredth of the peak
	}
	twice := gamma.Learn(protocol.Behavior{Mflop: 8_000_000}, []gamma.Execution{run})
	if p, _, _ := twice.Expect("a", machine(), 64); off(p.Time, 20_000) > 0.05 {
		t.Errorf("expects %v of twice the size, want 20000 s", p.Time)
	}
	silent := gamma.Learn(protocol.Behavior{}, []gamma.Execution{run})
	said := gamma.Learn(run.Stated, []gamma.Execution{run})
	a, _, _ := silent.Expect("b", machine(), 8)
	b, _, _ := said.Expect("b", machine(), 8)
	if a != b {
		t.Errorf("expects %v if nothing is stated anew, %v if the same is", a.Time, b.Time)
	}
	cut := protocol.Behavior{Mflop: 4_000_000, Sent: 16e9, CPUs: 8, Scaling: protocol.Surface}
	run.Usage = protocol.Usage{}
	run.Ran = gamma.Predict(cut, machine(), 64).Time
	k := gamma.Learn(cut, []gamma.Execution{run})
	if p, _, _ := k.Expect("b", machine(), 8); off(p.Time, float64(gamma.Predict(cut, machine(), 8).Time)/1000) > 0.01 {
		t.Errorf("expects %v of the surface of 8 parts, want %v", p.Time, gamma.Predict(cut, machine(), 8).Time)
	}
}

// TestCountedAfterAll: what the user says that there is none of counts if it was counted.
func TestCountedAfterAll(t *testing.T) {
	t.Parallel()
	poor := machine()
	poor.Words, poor.Network, poor.Latency = poor.Words/100, poor.Network/100, 100*poor.Latency
	for name, more := range map[string]protocol.Behavior{
		"accesses": {Mwords: 4_000_000}, "words sent": {Sent: 5e9}, "messages": {Messages: 2e6},
	} {
		does := more
		does.Mflop = 32_000_000
		run := gamma.Execution{
			Site: "a", Machine: machine(), CPUs: 8, Ran: gamma.Predict(does, machine(), 8).Time,
			Usage: protocol.Usage{Mwords: more.Mwords, Sent: more.Sent, Messages: more.Messages},
		}
		k := gamma.Learn(protocol.Behavior{Mflop: 32_000_000}, []gamma.Execution{run})
		if p, _, _ := k.Expect("b", poor, 8); off(p.Time, float64(gamma.Predict(does, poor, 8).Time)/1000) > 0.05 {
			t.Errorf("%s: expects %v, want %v", name, p.Time, gamma.Predict(does, poor, 8).Time)
		}
	}
}

// TestEverywhere: after runs on every machine all are known well, without a counter.
func TestEverywhere(t *testing.T) {
	t.Parallel()
	for _, c := range classes(t) {
		for _, truth := range truths(&c) {
			var runs []gamma.Execution
			for _, s := range park(t) {
				runs = append(runs, truth.runs(5, &s, []int{c.cpus}, counters{cpu: true})...)
			}
			k := gamma.Learn(truth.wrong(), runs)
			for _, s := range park(t) {
				// As of a like machine at a site where it never ran.
				p, _, _ := k.Expect("elsewhere", s.machine, c.cpus)
				if e := off(p.Time, truth.seconds(&s.machine, c.cpus)); e > 0.10 {
					t.Errorf("%s on one like %s: %.0f %% off", c.name, s.name, 100*e)
				}
			}
		}
	}
}
