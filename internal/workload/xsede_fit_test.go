package workload_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// xsedeSample returns the jobs of the sample of the authors of [MC], by system.
func xsedeSample(t *testing.T) (systems [][]workload.Job, span float64) {
	t.Helper()
	trace := readShared(t, "xsede-sample-4100.swf.gz")
	for _, part := range workload.Split(trace, workload.SplitExtra) {
		jobs, cleaning := workload.Clean(part.Trace, workload.CleanOptions{})
		if !cleaning.AsIs() {
			t.Fatalf("the sample's jobs were changed: %s", cleaning)
		}
		systems = append(systems, jobs)
	}
	records := trace.Records
	return systems, float64(records[len(records)-1].Submit-records[0].Submit) / 1000
}

// meanOf is the mean of a function over a gamma distribution within bounds.
func meanOf(g workload.Gamma, low, high float64, f func(float64) float64) float64 {
	d := distuv.Gamma{Alpha: g.Shape, Beta: 1 / g.Scale}
	// The bounds hold all but the last digits of the distribution, so that the
	// nodes lie where it is.
	mean, sd := g.Mean(), math.Sqrt(g.Shape)*g.Scale
	from, to := max(low, mean-12*sd), min(high, mean+30*sd)
	part := func(of func(float64) float64) float64 { return quad.Fixed(of, from, to, 500, nil, 0) }
	return part(func(x float64) float64 { return f(x) * d.Prob(x) }) / part(d.Prob)
}

// bisect finds where a rising function has a value.
func bisect(low, high, value float64, f func(float64) float64) float64 {
	for range 40 {
		if middle := (low + high) / 2; f(middle) < value {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}

// meanSize is the mean of sizes whose logarithm is uniform, some rounded.
func meanSize(low, high, rounded float64) float64 {
	const steps = 5_000
	sum := 0.0
	for i := range steps {
		x := low + (high-low)*(float64(i)+0.5)/steps
		sum += rounded*math.Exp2(math.Round(x)) + (1-rounded)*math.Round(math.Exp2(x))
	}
	return sum / steps
}

// xsedeConstants are what the calibration finds for a system.
type xsedeConstants struct{ least, lower, long, short0, load float64 }

// calibrate fits a system's model to its jobs, as [workload.XSEDELublin] says.
func calibrate(m workload.Lublin, jobs []workload.Job, span, factor float64) xsedeConstants {
	c := m.Classes[0]
	k := xsedeConstants{least: math.Inf(1), long: c.Long.Shape, short0: c.Short0}
	run, cpus := 0.0, 0.0
	for _, j := range jobs {
		run += factor * float64(j.Run) / 1000 / float64(len(jobs))
		cpus += float64(j.CPUs) / float64(len(jobs))
		if j.CPUs > 1 {
			k.least = min(k.least, float64(j.CPUs))
		}
	}
	low, high := math.Log2(k.least), c.High
	rounded := c.PowerOfTwo / (1 - c.Serial)
	small, large := meanSize(low, high-2.5, rounded), meanSize(high-2.5, high, rounded)
	k.lower = (large - (cpus-c.Serial)/(1-c.Serial)) / (large - small)

	gap := workload.Gamma{Shape: c.Gap.Shape * c.Rush, Scale: c.Gap.Scale}
	k.load = meanOf(gap, 0, m.MaxLogGap, math.Exp) / (span / float64(len(jobs)))

	seconds := func(x float64) float64 { return min(math.Floor(math.Exp(x)), float64(m.Limit)/1000) }
	least := math.Log(float64(m.LeastRun) / 1000)
	mean := func(short, long float64) float64 {
		return short*meanOf(c.Short, least, m.MaxLogRun, seconds) +
			(1-short)*meanOf(workload.Gamma{Shape: long, Scale: c.Long.Scale}, least, m.MaxLogRun, seconds)
	}
	if c.Short.Shape < 10 { // Gordon's short runs
		k.short0 = 1 - bisect(0, 1, run, func(long float64) float64 { return mean(1-long, k.long) })
		return k
	}
	k.long = bisect(200, 500, run, func(long float64) float64 { return mean(k.short0, long) })
	return k
}

// The constants of the models are what the calibration finds in the sample.
func TestXSEDECalibration(t *testing.T) {
	t.Parallel()
	sample, span := xsedeSample(t)
	total, jobs := 0.0, 0
	for _, system := range sample {
		for _, j := range system {
			total += float64(j.Run) / float64(protocol.Hour)
		}
		jobs += len(system)
	}
	factor := 8.8 / (total / float64(jobs))
	for i, m := range workload.XSEDELublin() {
		c := m.Classes[0]
		got := xsedeConstants{least: math.Exp2(c.Low), lower: c.Lower, long: c.Long.Shape, short0: c.Short0, load: m.Load}
		want := calibrate(m, sample[i], span, factor)
		if !near(got.least, want.least, 1e-9) || math.Abs(got.lower-want.lower) > 1e-4 || math.Abs(got.long-want.long) > 0.1 ||
			math.Abs(got.short0-want.short0) > 1e-4 || math.Abs(got.load-want.load) > 1e-4 {
			t.Errorf("%s has %+v, the sample gives %+v", workload.XSEDESystems()[i].Name, got, want)
		}
	}
}

// likelihood is that of the sample's jobs of half an hour and more, outside
// Gordon, under a mixture of run times that is the same for all systems.
func likelihood(systems [][]workload.Job, models []workload.Lublin, short, long workload.Gamma, short0 float64) float64 {
	sum := 0.0
	for i, m := range models {
		if i == 2 {
			continue
		}
		limit := float64(m.Limit) / 1000
		least := math.Log(float64(m.LeastRun) / 1000)
		density := func(g workload.Gamma, run float64) float64 {
			d := distuv.Gamma{Alpha: g.Shape, Beta: 1 / g.Scale}
			mass := d.CDF(m.MaxLogRun) - d.CDF(least)
			if run >= limit {
				return (d.CDF(m.MaxLogRun) - d.CDF(math.Log(limit))) / mass
			}
			return d.Prob(math.Log(run)) / mass
		}
		for _, j := range systems[i] {
			if j.Run >= m.LeastRun {
				run := float64(j.Run) / 1000
				sum += math.Log(short0*density(short, run) + (1-short0)*density(long, run))
			}
		}
	}
	return sum
}

// What all systems but Gordon have in common is the likeliest for the sample: a
// change of any of the figures by a few percent makes it less likely.
func TestXSEDERunTimesAreTheLikeliest(t *testing.T) {
	t.Parallel()
	sample, _ := xsedeSample(t)
	models := workload.XSEDELublin()
	c := models[0].Classes[0]
	const pooled = 333.6 // the shape of the long runs if it is the same for all
	at := func(shortShape, shortScale, longShape, longScale, short0 float64) float64 {
		return likelihood(sample, models,
			workload.Gamma{Shape: c.Short.Shape * shortShape, Scale: c.Short.Scale * shortScale},
			workload.Gamma{Shape: pooled * longShape, Scale: c.Long.Scale * longScale}, c.Short0*short0)
	}
	best := at(1, 1, 1, 1, 1)
	for name, other := range map[string]float64{
		"short mean": max(at(1.02, 1, 1, 1, 1), at(1/1.02, 1, 1, 1, 1)), "short spread": max(at(1.2, 1/1.2, 1, 1, 1), at(1/1.2, 1.2, 1, 1, 1)),
		"long mean": max(at(1, 1, 1.01, 1, 1), at(1, 1, 1/1.01, 1, 1)), "long spread": max(at(1, 1, 1.1, 1/1.1, 1), at(1, 1, 1/1.1, 1.1, 1)),
		"share": max(at(1, 1, 1, 1, 1.1), at(1, 1, 1, 1, 1/1.1)),
	} {
		if other >= best {
			t.Errorf("%s: another one is likelier by e^%.2f", name, other-best)
		}
	}
}
