package superscheduler

import (
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/report"
	"github.com/switchyard-hpc/switchyard/internal/reproduce"
	"github.com/switchyard-hpc/switchyard/internal/workload"
)

// tableFiveOf is [SS] Table 5, M1 to M3.
func tableFiveOf(name string) []workload.Table6 {
	if name == sixMonths {
		return []workload.Table6{
			{Jobs: 132069, Utilization: 0.91, Wait: 8318, Response: 13404},
			{Jobs: 42339, Utilization: 0.72, Wait: 1955, Response: 5445},
			{Jobs: 36131, Utilization: 0.79, Wait: 11506, Response: 16660},
		}
	}
	return []workload.Table6{
		{Jobs: 26343, Utilization: 0.92, Wait: 7977, Response: 12770},
		{Jobs: 5735, Utilization: 0.72, Wait: 5173, Response: 9525},
		{Jobs: 5974, Utilization: 0.73, Wait: 15271, Response: 20075},
	}
}

// printed are the machines of an experiment in [SS] Table 5 or 6.
func printed(name string) []workload.Table6 {
	switch name {
	case heavy:
		table := workload.HeavyTable()
		return table[:]
	case light:
		table := workload.LightTable()
		return table[:]
	}
	return tableFiveOf(name)
}

// mean is the mean of all jobs of machines, by the numbers of their jobs.
func mean(machines []workload.Table6, of func(workload.Table6) float64) float64 {
	sum, jobs := 0.0, 0
	for _, m := range machines {
		sum, jobs = sum+of(m)*float64(m.Jobs), jobs+m.Jobs
	}
	return sum / float64(jobs)
}

func waitOf(m workload.Table6) float64 { return m.Wait }

// balanced are the utilizations of M1 to M3 under S-I over six months [SS 4.1].
func balanced() []float64 { return []float64{86, 81, 78} }

func tableSix() exhibit {
	sweeps := []sweep{
		{experiment: heavy, schemes: []experiment.Scheme{experiment.Local}}, {experiment: light, schemes: []experiment.Scheme{experiment.Local}},
	}
	return machinesExhibit("ss-table6", "the machines of the synthetic workloads, each alone", "[SS] Table 6", sweeps)
}

func tableFive() exhibit {
	sweeps := []sweep{{experiment: sixMonths, schemes: localAndSender()}, {experiment: oneMonth, schemes: localAndSender()}}
	return machinesExhibit("ss-table5", "the real log and two modeled machines, each alone", "[SS] Table 5", sweeps)
}

func machinesExhibit(name, title, paper string, sweeps []sweep) exhibit {
	return exhibit{
		Exhibit: reproduce.Exhibit{Name: name, Title: title, Paper: paper}, sweeps: sweeps,
		notes: []string{"The utilization counts the nodes that jobs are allocated, over the machine's own span, as in the paper; used, the CPUs that they request."},
		build: func(s *study, r *reproduce.Report) error {
			for _, w := range sweeps {
				s.machines(r, w)
			}
			return nil
		},
	}
}

// machines are the tables of a sweep's machines: alone as the paper has them, and under S-I if that is run.
func (s *study) machines(r *reproduce.Report, w sweep) {
	swept := s.swept(w)
	local := find(swept, experiment.Local)
	t := reproduce.Table{
		Title: s.title(r, swept.Experiment, w), Stub: "machine",
		Columns: []reproduce.Column{
			{Key: "jobs", Title: "jobs"},
			{Key: "utilization", Title: "utilization", Unit: "%", Digits: 1},
			{Key: "used", Title: "used", Unit: "%", Digits: 1},
			{Key: "wait", Title: "wait", Unit: "s"},
			{Key: "response", Title: "response", Unit: "s"},
		},
	}
	paper := printed(w.experiment)
	for i, site := range local.Sites {
		of := func(key string, scale float64) reproduce.Cell { return scaled(site.Metrics, key, scale) }
		t.Rows = append(t.Rows, reproduce.Row{Label: machine(site.Site), Cells: []reproduce.Cell{
			of("jobs_submitted", 1).Beside(float64(paper[i].Jobs)), of(allocatedKey, 100).Beside(100 * paper[i].Utilization), of(usedKey, 100),
			of(waitKey, 1).Beside(paper[i].Wait), of(responseKey, 1).Beside(paper[i].Response),
		}})
	}
	r.Tables = append(r.Tables, t)
	if len(swept.Points) > 1 {
		r.Tables = append(r.Tables, s.shared(r, w))
	}
}

// machine is a site by the paper's name.
func machine(site string) string { return strings.ToUpper(site) }

// shared is what S-I makes of the machines.
func (s *study) shared(r *reproduce.Report, w sweep) reproduce.Table {
	swept := s.swept(w)
	t := reproduce.Table{
		Title: s.title(r, swept.Experiment+", S-I", w), Stub: "machine",
		Columns: []reproduce.Column{
			{Key: "utilization", Title: "utilization", Unit: "%", Digits: 1},
			{Key: "sent", Title: "jobs sent away", Unit: "%", Digits: 1},
			{Key: "wait", Title: "wait", Unit: "s"},
			{Key: "response", Title: "response", Unit: "s"},
		},
	}
	for i, site := range find(swept, experiment.Sender).Sites {
		utilization := scaled(site.Metrics, allocatedKey, 100)
		if w.experiment == sixMonths {
			utilization = utilization.Beside(balanced()[i])
		}
		sent := bySeed(site.Metrics["jobs_sent"].Values, site.Metrics["jobs_submitted"].Values, func(sent, all float64) float64 { return 100 * sent / all })
		t.Rows = append(t.Rows, reproduce.Row{Label: machine(site.Site), Cells: []reproduce.Cell{
			utilization, cell(sent), scaled(site.Metrics, waitKey, 1), scaled(site.Metrics, responseKey, 1),
		}})
	}
	return t
}

// wholeNodes is the other reading of sizes, on the real log.
func wholeNodes() exhibit {
	set, schemes := []string{"size_unit=node"}, append(localAndSender(), experiment.Ideal)
	sweeps := []sweep{{experiment: sixMonths, set: set, schemes: schemes}, {experiment: oneMonth, set: set, schemes: schemes}}
	return exhibit{
		Exhibit: reproduce.Exhibit{Name: "ss-nodes", Title: "the real log, where modeled jobs request whole nodes instead of CPUs", Paper: "[SS] Table 5 and Figure 3"}, sweeps: sweeps,
		notes: schemesNotes(),
		build: func(s *study, r *reproduce.Report) error {
			for _, w := range sweeps {
				s.machines(r, w)
				r.Tables = append(r.Tables, schemeTables(s.swept(w), 3, func(title string) string { return s.title(r, title, w) })...)
			}
			return nil
		},
	}
}

// estimates replaces perfect estimates of the real log by those of its users.
func estimates() exhibit {
	w := sweep{experiment: oneMonth, set: []string{"estimates=perfect,trace"}, schemes: []experiment.Scheme{
		experiment.Local, experiment.Sender, experiment.Receiver,
	}}
	return exhibit{
		Exhibit: reproduce.Exhibit{Name: "ss-estimates", Title: "one month, with the estimates of Blue Horizon's users", Paper: "[SS 4.1], which states no estimates"}, sweeps: []sweep{w},
		build: func(s *study, r *reproduce.Report) error {
			columns := []measure{
				seconds("wait", "wait", waitKey), gain("gain", "gain, by seed", waitKey),
				{reproduce.Column{Key: "m3_wait", Title: "M3's wait", Unit: "s"}, func(r rival) reproduce.Cell { return scaled(r.own.Sites[2].Metrics, waitKey, 1) }},
				percent("efficiency", "efficiency", efficiencyKey), percent("moved", "moved", movedKey),
			}
			swept := s.swept(w)
			t := reproduce.Table{Stub: "scheme, estimates", Columns: titles(columns)}
			for _, kind := range []string{"perfect", "trace"} {
				for _, scheme := range w.schemes {
					one := setting("estimates", kind)
					label := scheme.Label() + ", " + map[string]string{"perfect": "perfect", "trace": "users'"}[kind]
					t.Rows = append(t.Rows, row(label, rival{find(swept, experiment.Local, one), find(swept, scheme, one)}, columns))
				}
			}
			r.Tables = append(r.Tables, t)
			return nil
		},
	}
}

// loads are the light workload at other loads.
func loads() exhibit {
	w := sweep{experiment: light, set: []string{"load=0.7,0.9,1"}, schemes: localAndSender()}
	return exhibit{
		Exhibit: reproduce.Exhibit{Name: "ss-load", Title: "the light workload at lower loads", Paper: "[SS] Figure 4"}, sweeps: []sweep{w},
		notes: []string{"The paper's waits are those of its Table 6, weighted by jobs, and that divided by its gain."},
		build: func(s *study, r *reproduce.Report) error {
			columns := []measure{
				{reproduce.Column{Key: "local_wait", Title: "local wait", Unit: "s"}, func(r rival) reproduce.Cell { return scaled(r.local.Metrics, waitKey, 1) }},
				seconds("wait", "S-I wait", waitKey), gainOfMeans("gain_means", "gain, of the means", waitKey), gain("gain", "gain, by seed", waitKey),
				gain("response_gain", "gain in response", responseKey),
				{reproduce.Column{Key: "local_efficiency", Title: "local efficiency", Unit: "%", Digits: 1}, func(r rival) reproduce.Cell { return scaled(r.local.Metrics, efficiencyKey, 100) }},
			}
			swept := s.swept(w)
			t := reproduce.Table{Stub: "load", Columns: titles(columns)}
			for _, load := range swept.Axes[0].Values {
				one := setting("load", load)
				t.Rows = append(t.Rows, row(load, rival{find(swept, experiment.Local, one), find(swept, experiment.Sender, one)}, columns))
			}
			alone := mean(printed(light), waitOf)
			inWait, inResponse := 1/report.Stated(4, "wait", light, "S-I").Value, 1/report.Stated(4, "response", light, "S-I").Value
			last := t.Rows[len(t.Rows)-1].Cells
			last[0], last[1], last[3], last[4] = last[0].Beside(alone), last[1].Beside(alone/inWait), last[3].Beside(inWait), last[4].Beside(inResponse)
			r.Tables = append(r.Tables, t)
			return nil
		},
	}
}
