package superscheduler

import (
	"math"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/report"
	"github.com/switchyard-hpc/switchyard/internal/reproduce"
)

// The metrics of points, by their keys.
const (
	waitKey       = "mean_wait_s"
	responseKey   = "mean_response_s"
	deviationKey  = "wait_deviation_s"
	printedKey    = "wait_deviation_paper_s" // the formula of the deviation as printed
	efficiencyKey = "grid_efficiency"
	movedKey      = "fraction_transferred"
	messagesKey   = "messages_per_job"
	makespanKey   = "makespan_s"
	usedKey       = "utilization"
	allocatedKey  = "utilization_allocated"
)

// rival is a point beside the one that it is compared with, mostly the local scheme of the same setting.
type rival struct{ local, own *experiment.Point }

// measure is a column of points.
type measure struct {
	reproduce.Column

	of func(rival) reproduce.Cell
}

// row is the cells of a point.
func row(label string, r rival, columns []measure) reproduce.Row {
	made := reproduce.Row{Label: label}
	for _, c := range columns {
		made.Cells = append(made.Cells, c.of(r))
	}
	return made
}

func titles(columns []measure) []reproduce.Column {
	var all []reproduce.Column
	for _, c := range columns {
		all = append(all, c.Column)
	}
	return all
}

// cell is the mean of values that all are numbers; without numbers there is none.
func cell(values []float64) reproduce.Cell {
	if len(values) == 0 || slices.ContainsFunc(values, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }) {
		return reproduce.Cell{}
	}
	return reproduce.Ours(values...)
}

// scaled is a metric in another unit.
func scaled(metrics map[string]report.Average, key string, scale float64) reproduce.Cell {
	return cell(bySeed(metrics[key].Values, metrics[key].Values, func(x, _ float64) float64 { return x * scale }))
}

// bySeed combines two metrics, seed by seed.
func bySeed(a, b []float64, with func(a, b float64) float64) []float64 {
	values := make([]float64, min(len(a), len(b)))
	for i := range values {
		values[i] = with(a[i], b[i])
	}
	return values
}

// gains are how many times smaller a metric is than under local, by seed.
func (r rival) gains(key string) []float64 {
	return bySeed(r.local.Metrics[key].Values, r.own.Metrics[key].Values, func(local, own float64) float64 { return local / own })
}

// more is by how many per cent a metric is larger than under local, by seed.
func (r rival) more(key string) []float64 {
	return bySeed(r.local.Metrics[key].Values, r.own.Metrics[key].Values, func(local, own float64) float64 { return 100 * (own/local - 1) })
}

// points are by how many percentage points a share is larger than under local, by seed.
func (r rival) points(key string) []float64 {
	return bySeed(r.local.Metrics[key].Values, r.own.Metrics[key].Values, func(local, own float64) float64 { return 100 * (own - local) })
}

// itself says whether there is nothing to compare.
func (r rival) itself() bool { return r.local == r.own }

// compared is a column that the compared point itself has no cell in.
func compared(c reproduce.Column, of func(rival) reproduce.Cell) measure {
	return measure{c, func(r rival) reproduce.Cell {
		if r.itself() {
			return reproduce.Cell{}
		}
		return of(r)
	}}
}

func seconds(key, title string, metric string) measure {
	return measure{reproduce.Column{Key: key, Title: title, Unit: "s"}, func(r rival) reproduce.Cell { return scaled(r.own.Metrics, metric, 1) }}
}

func percent(key, title, metric string) measure {
	return measure{reproduce.Column{Key: key, Title: title, Unit: "%", Digits: 1}, func(r rival) reproduce.Cell { return scaled(r.own.Metrics, metric, 100) }}
}

func messages() measure {
	return measure{reproduce.Column{Key: "messages", Title: "messages a job", Digits: 1}, func(r rival) reproduce.Cell { return scaled(r.own.Metrics, messagesKey, 1) }}
}

// gain is the mean of the gains of the seeds.
func gain(key, title, metric string) measure {
	return compared(reproduce.Column{Key: key, Title: title, Digits: 1}, func(r rival) reproduce.Cell { return cell(r.gains(metric)) })
}

// gainOfMeans is that of the mean over the seeds.
func gainOfMeans(key, title, metric string) measure {
	return compared(reproduce.Column{Key: key, Title: title, Digits: 2}, func(r rival) reproduce.Cell {
		return cell([]float64{r.local.Metrics[metric].Mean / r.own.Metrics[metric].Mean})
	})
}

// extremes are the least and the largest of values by seed, as two columns.
func extremes(key string, digits int, values func(rival) []float64) []measure {
	pick := func(end string, of func([]float64) float64) measure {
		return compared(reproduce.Column{Key: key + "_" + end, Title: end, Digits: digits}, func(r rival) reproduce.Cell {
			return cell([]float64{of(values(r))})
		})
	}
	return []measure{pick("least", slices.Min[[]float64]), pick("largest", slices.Max[[]float64])}
}

// find is a point of a sweep with these settings.
func find(swept *experiment.Swept, scheme experiment.Scheme, settings ...experiment.Setting) *experiment.Point {
	for i := range swept.Points {
		p := &swept.Points[i]
		has := func(one experiment.Setting) bool { return p.Settings[one.Key] == one.Value }
		if p.Scheme == scheme && !slices.ContainsFunc(settings, func(one experiment.Setting) bool { return !has(one) }) {
			return p
		}
	}
	panic("a point of " + swept.Experiment + " is not in its sweep")
}

// setting is a key with a value.
func setting(key, value string) experiment.Setting { return experiment.Setting{Key: key, Value: value} }
