package broker

import (
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Asked is a row of a round: a job in one of its shapes, and the application that it is a component
// of.
type Asked struct {
	Job  *row.Job
	App  *row.Application // nil: the job is on its own
	Gone bool             // the job has ended since the round began
}

// application is the id of the application; of a job on its own that of the job.
func (one *Asked) application() protocol.JobID {
	if one.App == nil {
		return one.Job.Spec.Job
	}
	return one.App.ID
}

// Describe adds to the snapshot of a round, whose rows are these, what users want of the jobs and
// which of them start together.
func (o *Objectives) Describe(in *policy.Snapshot, rows []Asked, placed func(*row.Application) Placed, now protocol.Instant) {
	in.Currency = o.Money.Own
	until, known := horizons(in, rows), map[protocol.JobID]int{}
	for i := range rows {
		one := &rows[i]
		id := one.application()
		at, ok := known[id]
		if !ok {
			at = len(in.Applications)
			known[id] = at
			var of Placed
			if one.App != nil {
				of = placed(one.App)
			}
			in.Applications = append(in.Applications, o.application(one, of, now, until[id]))
		}
		in.Jobs[i].Application = at
		in.Jobs[i].Alpha, in.Jobs[i].Gamma, in.Jobs[i].Delta = o.Weights(one.Job, one.App)
	}
	o.numberGroups(in, rows)
}

// AddMoney adds the parts of the price of the next quote to a snapshot.
func AddMoney(in *policy.Snapshot, m view.Money) {
	in.UsageCost, in.LicenseCost = append(in.UsageCost, m.CPU), append(in.LicenseCost, m.License)
	in.EnergyCost, in.DataCost = append(in.EnergyCost, m.Energy), append(in.DataCost, m.Data)
}

// rowsEnd is the row behind those of the job that a row is of.
func rowsEnd(in *policy.Snapshot, i int) int {
	end := i + 1
	for end < len(in.Jobs) && in.Jobs[end].ID == in.Jobs[i].ID {
		end++
	}
	return end
}

// numberGroups numbers the groups of which several members are in the round. A single member
// would have no other to start with.
func (o *Objectives) numberGroups(in *policy.Snapshot, rows []Asked) {
	type group struct{ application, number int }
	members := map[group]int{}
	of := func(i int) group {
		if rows[i].Job.Together() {
			return group{in.Jobs[i].Application, rows[i].Job.Component.Together}
		}
		return group{}
	}
	for i := 0; i < len(rows); i = rowsEnd(in, i) {
		members[of(i)]++
	}
	for i := range rows {
		if g := of(i); g.number > 0 && members[g] > 1 {
			in.Jobs[i].Together = g.number
			o.addMargin(in, i)
		}
	}
}

// addMargin has a row of a group wait the margin longer in which its sites agree on an instant.
func (o *Objectives) addMargin(in *policy.Snapshot, row int) {
	for s := range in.Sites {
		if at := in.At(row, s); in.AWT[at] != protocol.Never {
			in.AWT[at] = in.Start(row, s, in.AWT[at]).Plus(o.Margin)
		}
	}
}

// horizons are for each application the longest that it may take, for the rates of waiting:
// all its components one after the other, behind the longest of the others' twice.
func horizons(in *policy.Snapshot, rows []Asked) map[protocol.JobID]protocol.Duration {
	longest, horizon := protocol.Day, map[protocol.JobID]protocol.Duration{}
	for i := 0; i < len(rows); i = rowsEnd(in, i) {
		of := protocol.Duration(0)
		for row := i; row < rowsEnd(in, i); row++ {
			of = max(of, longestOf(in, row))
		}
		longest = max(longest, of)
		if !rows[i].Gone {
			horizon[rows[i].application()] = horizon[rows[i].application()].Plus(of)
		}
	}
	for id, of := range horizon {
		horizon[id] = min(of.Plus(longest).Plus(longest), maxHorizon)
	}
	return horizon
}

// maxHorizon bounds how far ahead waiting is looked at.
const maxHorizon = 366 * protocol.Day

// longestOf is the longest that a row would take, at any site.
func longestOf(in *policy.Snapshot, j int) (longest protocol.Duration) {
	for s := range in.Sites {
		if at := in.At(j, s); in.AWT[at] != protocol.Never {
			longest = max(longest, in.AWT[at].Plus(in.ERT[at]).Plus(in.Transfer(j, s)).Plus(in.Return(j, s)))
		}
	}
	return longest
}

// Predicted is what a decision is predicted to bring; nil: the policy that took it is no
// [policy.ApplicationPolicy], and the snapshot has no parts of prices.
func Predicted(in *policy.Snapshot, d policy.Decision, now protocol.Instant) *row.Prediction {
	if len(in.UsageCost) == 0 {
		return nil
	}
	at := in.At(d.Job, d.Site)
	f := &row.Prediction{
		Cost: in.UsageCost[at].Plus(in.LicenseCost[at]).Plus(in.EnergyCost[at]).Plus(in.DataCost[at]),
		Run:  in.ERT[at],
		Back: in.Return(d.Job, d.Site),
	}
	f.End = now.Add(in.Start(d.Job, d.Site, d.Wait).Plus(f.Run).Plus(f.Back))
	return f
}
