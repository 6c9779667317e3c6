package engine_test

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// crowded is Intrepid under EASY and half the power that it could draw, with many waiting
// jobs.
func crowded(b *testing.B, mode engine.Mode, bound protocol.Duration, waiting int) *engine.Engine {
	b.Helper()
	const microwatts = 25_000_000_000 / 4096 // 25 kW per rack
	budget := engine.Budget{
		Signal: power.Always(500_000_000), Rates: power.Rates{Busy: microwatts, Idle: microwatts / 2}, Mode: mode,
		Bound: bound,
	}
	e := engine.New(intrepid(b, engine.Enabled{Smallest: 512}), engine.Within(budget, engine.EASY()))
	random := rand.New(rand.NewPCG(5, 8))
	for n := 0; e.Load().QueuedJobs < waiting; n++ {
		j := crowd(random, n, 512)
		j.Power = 600_000 + random.IntN(400_000)
		if _, err := e.Submit(0, j); err != nil {
			b.Fatal(err)
		}
	}
	return e
}

// BenchmarkBudgetPass makes a pass in which nothing can start, with 1,000 waiting jobs.
func BenchmarkBudgetPass(b *testing.B) {
	for _, mode := range engine.Modes() {
		b.Run(string(mode), func(b *testing.B) {
			e := crowded(b, mode, 0, 1000)
			late := crowd(rand.New(rand.NewPCG(1, 1)), 1_000_000, 512)
			for b.Loop() {
				if _, err := e.Submit(1, late); err != nil {
					b.Fatal(err)
				}
				if _, err := e.Withdraw(1, late.Tag); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkBudgetQuote asks for quotes behind a queue, each of another shape.
func BenchmarkBudgetQuote(b *testing.B) {
	for _, waiting := range []int{10, 100, 1000} {
		b.Run(strconv.Itoa(waiting), func(b *testing.B) {
			e := crowded(b, engine.Window, 0, waiting)
			time := protocol.Duration(0)
			for b.Loop() {
				time++
				e.Plan(1, nil, []protocol.Request{{CPUs: 4096, WallTime: time}})
			}
		})
	}
}

// BenchmarkBudgetLate makes a pass while 1,000 jobs wait longer than their bound.
func BenchmarkBudgetLate(b *testing.B) {
	for _, mode := range engine.Modes() {
		b.Run(string(mode), func(b *testing.B) {
			e := crowded(b, mode, 1, 1000)
			late := crowd(rand.New(rand.NewPCG(1, 1)), 1_000_000, 512)
			for b.Loop() {
				if _, err := e.Submit(10, late); err != nil {
					b.Fatal(err)
				}
				if _, err := e.Withdraw(10, late.Tag); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
