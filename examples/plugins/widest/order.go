package main

import (
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// WidestFirst starts whatever fits, the widest job first and equally wide ones in the
// order of submission. Nothing is held free for a job that waits, so that one as wide
// as the machine may starve while narrow ones come.
func WidestFirst() engine.Policy { return widestFirst{} }

type widestFirst struct{}

// Rank implements [engine.Policy]: the lowest comes first.
func (widestFirst) Rank(w engine.PendingJob) int64 { return -int64(w.Units) }

// PlanMode implements [engine.Policy]. A newcomer may start before jobs that wait, so
// that each one is planned in a future of its own: expensive, and always right.
func (widestFirst) PlanMode() engine.PlanMode { return engine.PlanSimulate }

// Pass implements [engine.Policy]. It goes through the queue once, past each job that
// has no place now.
func (widestFirst) Pass(f *engine.ClusterState) engine.BackfillWindow {
	left := engine.Open(f.FreeSet().Free())
	for c, ok := f.Next(engine.Cursor{}, left); ok; c, ok = f.Next(c, left) {
		job := f.At(c)
		place, fits := f.Find(&job, nil)
		if !fits {
			c = c.After()
			continue
		}
		f.Start(c, place)
		left = engine.Open(f.FreeSet().Free())
	}
	return left
}

// Engine is a batch system with this order on a machine, without a clock or processes.
func Engine(machine protocol.Capacity) localsched.Engine {
	if machine.WholeNode {
		return engine.New(engine.WholeNode(machine), WidestFirst()).Fallible()
	}
	return engine.New(engine.PerCPU(machine), WidestFirst()).Fallible()
}
