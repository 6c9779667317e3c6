package engine_test

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// crowd is a job of one of Intrepid's sizes, most of them small.
func crowd(random *rand.Rand, n, least int) localsched.Queued {
	nodes := least << min(random.IntN(6), random.IntN(10))
	return job(n, 4*nodes, 60_000+protocol.Duration(random.IntN(43_140_000)))
}

// BenchmarkPartitionTurnover ends a job and submits another one, which is two passes, on a
// busy Intrepid with about 1,000 waiting jobs: with all its partitions, and with those of
// at least a midplane.
func BenchmarkPartitionTurnover(b *testing.B) {
	for _, smallest := range []int{64, 512} {
		m := intrepid(b, engine.Enabled{Smallest: smallest})
		for _, policy := range engine.Names() {
			b.Run(fmt.Sprintf("%s/%d", policy, smallest), func(b *testing.B) {
				random := rand.New(rand.NewPCG(5, 8))
				e := engine.New(m, named(b, policy))
				running, next, order := &ends{}, 0, 0
				apply := func(now protocol.Instant, actions localsched.Actions, err error) {
					if err != nil {
						b.Fatal(err)
					}
					for _, t := range actions.Starts {
						order++
						run := 1 + protocol.Duration(random.IntN(40_000_000))
						heap.Push(running, ending{now.Add(run), order, t})
					}
				}
				submit := func(now protocol.Instant) {
					next++
					actions, err := e.Submit(now, crowd(random, next, smallest))
					apply(now, actions, err)
				}
				for e.Load().QueuedJobs < 1000 {
					submit(0)
				}
				passes := 0
				for b.Loop() {
					first, ok := heap.Pop(running).(ending)
					if !ok {
						b.Fatal("nothing runs")
					}
					actions, err := e.Finished(first.at, first.tag)
					apply(first.at, actions, err)
					for passes += 2; e.Load().QueuedJobs < 1000; passes++ {
						submit(first.at)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(passes), "ns/pass")
				b.ReportMetric(float64(running.Len()), "running")
			})
		}
	}
}

// BenchmarkPartitionHoles makes passes in which every one of 1,000 waiting jobs is tried and
// none has a place: every other pair of cards is free, and all want more.
func BenchmarkPartitionHoles(b *testing.B) {
	m := intrepid(b, engine.Enabled{})
	for _, policy := range engine.Names() {
		b.Run(policy, func(b *testing.B) {
			e := engine.New(m, named(b, policy))
			for i := range 640 { // they end in the order of their numbers
				if _, err := e.Submit(0, job(i, 256, 10_000_000+protocol.Duration(i))); err != nil {
					b.Fatal(err)
				}
			}
			random := rand.New(rand.NewPCG(5, 8))
			for i := range 1000 {
				if _, err := e.Submit(1, crowd(random, 1000+i, 128)); err != nil {
					b.Fatal(err)
				}
			}
			for i, place := range e.Places() {
				var card int
				name := nameOf(b, m, place)
				if _, err := fmt.Sscanf(name[len("ANL-R00-M0-N"):], "%d", &card); err != nil {
					b.Fatal(err)
				}
				if card%4 == 0 {
					if _, err := e.Finished(1, tag(i)); err != nil {
						b.Fatal(err)
					}
				}
			}
			for b.Loop() {
				if started := len(e.Pass(0).Starts); started > 0 {
					b.Fatalf("%d jobs were started", started)
				}
			}
			b.ReportMetric(float64(len(e.Places())), "running")
			b.ReportMetric(float64(e.Load().QueuedJobs), "waiting")
		})
	}
}

// BenchmarkPartitionQuote asks for the start of one job behind 1,000.
func BenchmarkPartitionQuote(b *testing.B) {
	m := intrepid(b, engine.Enabled{Smallest: 512})
	e, random := engine.New(m, engine.EASY()), rand.New(rand.NewPCG(5, 8))
	for i := 0; e.Load().QueuedJobs < 1000; i++ {
		if _, err := e.Submit(0, crowd(random, i, 512)); err != nil {
			b.Fatal(err)
		}
	}
	asked := []protocol.Request{{CPUs: 4096, WallTime: 3_600_000}}
	for b.Loop() {
		e.Plan(0, nil, asked)
	}
}

func BenchmarkPartitionFind(b *testing.B) {
	m := intrepid(b, engine.Enabled{})
	for _, units := range []int{64, 512, 1024, 8192} {
		b.Run(strconv.Itoa(units), func(b *testing.B) {
			room := m.NewFreeSet()
			for b.Loop() {
				if _, ok := room.Find(engine.Demand{Units: units}, nil); !ok {
					b.Fatal("the empty machine has no place")
				}
			}
		})
	}
}

// BenchmarkPartitionTake takes a partition and gives it back.
func BenchmarkPartitionTake(b *testing.B) {
	m := intrepid(b, engine.Enabled{})
	for _, units := range []int{64, 512, 8192, 40960} {
		b.Run(strconv.Itoa(units), func(b *testing.B) {
			room := m.NewFreeSet()
			place, _ := room.Find(engine.Demand{Units: units}, nil)
			for b.Loop() {
				room.Allocate(engine.Demand{Units: units}, place)
				room.Release(engine.Demand{Units: units}, place)
			}
		})
	}
}

func BenchmarkPartitionRoom(b *testing.B) {
	m := intrepid(b, engine.Enabled{})
	room, other := m.NewFreeSet(), m.NewFreeSet()
	b.Run("copy", func(b *testing.B) {
		for b.Loop() {
			room.CopyFrom(other)
		}
	})
	b.Run("meet", func(b *testing.B) {
		for b.Loop() {
			room.Intersect(other)
		}
	})
}
