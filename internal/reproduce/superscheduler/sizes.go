package superscheduler

import (
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/report"
	"github.com/switchyard-hpc/switchyard/internal/reproduce"
)

// sizes are other sizes of the heavy workload's jobs.
func sizes() exhibit {
	type reading struct {
		label string
		sweep
	}
	all := []reading{
		{"as the preset, M1's bias −0.4", sweep{experiment: heavy, schemes: localAndSender()}},
		{"M1's bias 0", sweep{experiment: heavy, set: []string{"workload.m1.bias=0"}, schemes: localAndSender()}},
		{"M1's bias 0.5", sweep{experiment: heavy, set: []string{"workload.m1.bias=0.5"}, schemes: localAndSender()}},
		{"whole nodes", sweep{experiment: heavy, set: []string{"size_unit=node"}, schemes: localAndSender()}},
	}
	var sweeps []sweep
	for _, one := range all {
		sweeps = append(sweeps, one.sweep)
	}
	return exhibit{
		Exhibit: reproduce.Exhibit{Name: "ss-sizes", Title: "the heavy workload with other sizes of jobs", Paper: "[SS] Table 6 and Figure 4"}, sweeps: sweeps,
		notes: []string{
			"Work is the time that the whole grid needs for all jobs at full efficiency. The paper's values stand beside the preset; " +
				"its waits of all jobs are those of Table 6, weighted by jobs, and that divided by its gain.",
		},
		build: func(s *study, r *reproduce.Report) error {
			waits, work := sizesColumns()
			tables := []reproduce.Table{
				{Title: "Waits and gains by seed", Stub: "sizes", Columns: titles(waits)},
				{Title: "Work and efficiency", Stub: "sizes", Columns: titles(work)},
			}
			for _, one := range all {
				swept := s.swept(one.sweep)
				pair := rival{find(swept, experiment.Local), find(swept, experiment.Sender)}
				tables[0].Rows = append(tables[0].Rows, row(one.label, pair, waits))
				tables[1].Rows = append(tables[1].Rows, row(one.label, pair, work))
			}
			besidePreset(tables[0].Rows[0].Cells, tables[1].Rows[0].Cells)
			r.Tables = append(r.Tables, tables...)
			return nil
		},
	}
}

// sizesColumns are those of the two tables.
func sizesColumns() (waits, work []measure) {
	alone := func(c measure) measure {
		return measure{c.Column, func(r rival) reproduce.Cell { return c.of(rival{r.local, r.local}) }}
	}
	firstSite := func(c reproduce.Column, key string, scale float64) measure {
		return measure{c, func(r rival) reproduce.Cell { return scaled(r.local.Sites[0].Metrics, key, scale) }}
	}
	waits = []measure{
		firstSite(reproduce.Column{Key: "m1_utilization", Title: "M1 utilization", Unit: "%", Digits: 1}, allocatedKey, 100),
		firstSite(reproduce.Column{Key: "m1_wait", Title: "M1 wait", Unit: "s"}, waitKey, 1),
		alone(seconds("local_wait", "local wait", waitKey)), seconds("wait", "S-I wait", waitKey),
		gain("gain", "gain in wait", waitKey), gain("response_gain", "gain in response", responseKey),
	}
	points := func(r rival) []float64 { return r.points(efficiencyKey) }
	work = slices.Concat(
		[]measure{
			{reproduce.Column{Key: "work", Title: "work", Unit: "days", Digits: 1}, func(r rival) reproduce.Cell {
				return cell(bySeed(r.local.Metrics[efficiencyKey].Values, r.local.Metrics[makespanKey].Values,
					func(efficiency, makespan float64) float64 { return efficiency * makespan / 86_400 }))
			}},
			alone(percent("local_efficiency", "local efficiency", efficiencyKey)), percent("efficiency", "S-I efficiency", efficiencyKey),
			compared(reproduce.Column{Key: "points", Title: "points", Digits: 1}, func(r rival) reproduce.Cell { return cell(points(r)) }),
		},
		extremes("points", 1, points),
	)
	return waits, work
}

// besidePreset puts the paper's values beside those of the preset.
func besidePreset(waits, work []reproduce.Cell) {
	machines := printed(heavy)
	alone := mean(machines, waitOf)
	inWait, inResponse := 1/report.Stated(4, "wait", heavy, "S-I").Value, 1/report.Stated(4, "response", heavy, "S-I").Value
	for i, value := range []float64{100 * machines[0].Utilization, machines[0].Wait, alone, alone / inWait, inWait, inResponse} {
		waits[i] = waits[i].Beside(value)
	}
	local, sender := report.Stated(4, "efficiency", heavy, report.Local).Value, report.Stated(4, "efficiency", heavy, "S-I").Value
	for i, value := range []float64{local, sender, sender - local} {
		work[1+i] = work[1+i].Beside(value)
	}
}

// backfilling is the other kind of backfilling, which the paper does not exclude.
func backfilling() exhibit {
	w := sweep{experiment: heavy, set: []string{"policy=easy,conservative"}, schemes: localAndSender(), seeds: 5}
	return exhibit{
		Exhibit: reproduce.Exhibit{Name: "ss-backfill", Title: "the heavy workload with conservative backfilling", Paper: "[SS] Table 6 and Figure 4"}, sweeps: []sweep{w},
		build: func(s *study, r *reproduce.Report) error {
			waits, work := sizesColumns()
			columns := slices.Concat(waits[1:], work[1:4])
			swept := s.swept(w)
			t := reproduce.Table{Stub: "backfilling", Columns: titles(columns)}
			for _, policy := range swept.Axes[0].Values {
				one := setting("policy", policy)
				label := map[string]string{"easy": "EASY", "conservative": "conservative"}[policy]
				t.Rows = append(t.Rows, row(label, rival{find(swept, experiment.Local, one), find(swept, experiment.Sender, one)}, columns))
			}
			r.Tables = append(r.Tables, t)
			return nil
		},
	}
}
