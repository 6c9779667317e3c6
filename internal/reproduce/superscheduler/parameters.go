package superscheduler

import (
	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/report"
	"github.com/switchyard-hpc/switchyard/internal/reproduce"
)

// delta are the threshold δ and the interval σ of R-I.
func delta() exhibit {
	of := func(set string) sweep {
		return sweep{experiment: heavy, set: []string{set}, schemes: []experiment.Scheme{experiment.Receiver}, seeds: 5}
	}
	thresholds, intervals := of("volunteer_below=0.5..0.9"), of("check_interval=60s,300s,900s")
	return exhibit{
		Exhibit: reproduce.Exhibit{Name: "ss-delta", Also: []string{"ss-sigma"}, Title: "R-I over the utilization threshold δ and the check interval σ, heavy workload", Paper: "[SS 4.1]"},
		sweeps:  []sweep{thresholds, intervals},
		build: func(s *study, r *reproduce.Report) error {
			r.Tables = append(r.Tables, s.parameter("δ", "Over δ, at σ = 300 s", thresholds), s.parameter("σ", "Over σ, at δ = 0.7", intervals))
			return drawCurves(r, s.swept(thresholds))
		},
	}
}

// phi is the wait threshold φ of S-I.
func phi() exhibit {
	return ofSender("ss-phi", "local_wait_threshold", "1ms,60s,600s,3600s,21600s", "φ", "the local wait threshold φ", "The paper uses φ = 60 s.")
}

// epsilon is the tolerance ε of S-I.
func epsilon() exhibit {
	return ofSender("ss-epsilon", "turnaround_tolerance", "0s,30s,300s,1800s", "ε", "the turnaround tolerance ε", "The paper gives no ε; we use 30 s.")
}

// ofSender is S-I over one parameter.
func ofSender(name, key, values, symbol, what, note string) exhibit {
	w := sweep{experiment: heavy, set: []string{key + "=" + values}, schemes: []experiment.Scheme{experiment.Sender}, seeds: 5}
	return exhibit{
		Exhibit: reproduce.Exhibit{Name: name, Title: "S-I over " + what + ", heavy workload", Paper: "[SS 2.1]"}, sweeps: []sweep{w}, notes: []string{note},
		build: func(s *study, r *reproduce.Report) error {
			r.Tables = append(r.Tables, s.parameter(symbol, "", w))
			return drawCurves(r, s.swept(w))
		},
	}
}

// parameter is a table of a sweep over one parameter under one scheme.
func (s *study) parameter(symbol, title string, w sweep) reproduce.Table {
	columns := []measure{seconds("wait", "wait", waitKey), seconds("response", "response", responseKey), percent("moved", "moved", movedKey), messages()}
	swept := s.swept(w)
	axis := swept.Axes[0]
	t := reproduce.Table{Title: title, Stub: symbol, Columns: titles(columns)}
	for _, value := range axis.Values {
		p := find(swept, w.schemes[0], setting(axis.Key, value))
		t.Rows = append(t.Rows, row(value, rival{p, p}, columns))
	}
	return t
}

// drawCurves adds the waits over the first parameter.
func drawCurves(r *reproduce.Report, swept *experiment.Swept) error {
	drawn, err := swept.CurvesFigure(r.Name, waitKey)
	r.Figures = append(r.Figures, drawn)
	return err
}

// readings are the rules that the paper leaves open.
func readings() exhibit {
	receiver := sweep{
		experiment: heavy, set: []string{"recheck_jobs=0,1", "jobs_per_volunteer=0,1"}, schemes: []experiment.Scheme{experiment.Receiver}, seeds: 5,
	}
	symmetric := func(name string) sweep {
		return sweep{experiment: name, set: []string{"stay_local=false,true"}, schemes: []experiment.Scheme{experiment.Symmetric}, seeds: 5}
	}
	return exhibit{
		Exhibit: reproduce.Exhibit{Name: "ss-readings", Title: "the rules that the paper leaves open", Paper: "[SS 2.1.2] and [SS 2.1.3]"},
		sweeps:  []sweep{receiver, symmetric(heavy), symmetric(light)},
		build: func(s *study, r *reproduce.Report) error {
			columns := []measure{
				seconds("wait", "wait", waitKey), seconds("response", "response", responseKey), percent("efficiency", "efficiency", efficiencyKey),
				percent("moved", "moved", movedKey), messages(),
			}
			t := reproduce.Table{Stub: "rule", Columns: titles(columns)}
			add := func(label string, w sweep, settings ...experiment.Setting) {
				p := find(s.swept(w), w.schemes[0], settings...)
				t.Rows = append(t.Rows, row(label, rival{p, p}, columns))
			}
			every, first := setting("recheck_jobs", "0"), setting("recheck_jobs", "1")
			anyNumber, one := setting("jobs_per_volunteer", "0"), setting("jobs_per_volunteer", "1")
			add("heavy, R-I: all waiting jobs recheck, any number a volunteer (default)", receiver, every, anyNumber)
			add("heavy, R-I: all recheck, one a volunteer", receiver, every, one)
			add("heavy, R-I: the first rechecks, any number", receiver, first, anyNumber)
			add("heavy, R-I: the first rechecks, one (literal)", receiver, first, one)
			for _, name := range []string{heavy, light} {
				add(name+", Sy-I: asks all partners if all volunteers are worse (default)", symmetric(name), setting("stay_local", "false"))
				add(name+", Sy-I: stays local then", symmetric(name), setting("stay_local", "true"))
			}
			r.Tables = append(r.Tables, t)
			return nil
		},
	}
}

// figureFive are the local policies under S-I.
func figureFive() exhibit {
	w := sweep{experiment: oneMonth, set: []string{"policy=easy,firstfit,sjf,sjffit"}, schemes: localAndSender()}
	return exhibit{
		Exhibit: reproduce.Exhibit{Name: "ss-fig5", Title: "local policies under S-I, one month of the real log", Paper: "[SS] Figure 5"}, sweeps: []sweep{w},
		notes: []string{"The gain is the mean response under local FCFS+BF over that under S-I, by seed. The paper does not tell the kinds of SJF apart."},
		build: func(s *study, r *reproduce.Report) error {
			swept := s.swept(w)
			base := find(swept, experiment.Local, setting("policy", "easy"))
			stated := func(x reproduce.Cell, policy string) reproduce.Cell {
				mark := report.Stated(5, "response", swept.Experiment, experiment.PolicyLabel(policy))
				if x.Ours == nil || mark.Bound == report.Unstated {
					return x
				}
				return x.Marked(report.Mark{Value: 1 / mark.Value, Bound: report.AtLeast}) // the share of local is less
			}
			t := reproduce.Table{Stub: "policy", Columns: []reproduce.Column{
				{Key: "local_wait", Title: "local wait", Unit: "s"},
				{Key: "wait", Title: "S-I wait", Unit: "s"},
				{Key: "response", Title: "S-I response", Unit: "s"},
				{Key: "gain", Title: "better than local FCFS+BF", Digits: 2},
				{Key: "local_deviation", Title: "local deviation", Unit: "s"},
				{Key: "deviation", Title: "S-I deviation", Unit: "s"},
				{Key: "efficiency", Title: "S-I efficiency", Unit: "%", Digits: 1},
				{Key: "moved", Title: "moved", Unit: "%", Digits: 1},
			}}
			for _, policy := range swept.Axes[0].Values {
				one := setting("policy", policy)
				local, sender := find(swept, experiment.Local, one), find(swept, experiment.Sender, one)
				t.Rows = append(t.Rows, reproduce.Row{Label: experiment.PolicyLabel(policy), Cells: []reproduce.Cell{
					scaled(local.Metrics, waitKey, 1), scaled(sender.Metrics, waitKey, 1), scaled(sender.Metrics, responseKey, 1),
					stated(cell(rival{base, sender}.gains(responseKey)), policy), scaled(local.Metrics, deviationKey, 1), scaled(sender.Metrics, deviationKey, 1),
					scaled(sender.Metrics, efficiencyKey, 100), scaled(sender.Metrics, movedKey, 100),
				}})
			}
			r.Tables = append(r.Tables, t)
			drawn, ok, err := swept.PoliciesFigure(r.Name)
			if ok {
				r.Figures = append(r.Figures, drawn)
			}
			return err
		},
	}
}
