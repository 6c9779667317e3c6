package workload

import "github.com/switchyard-hpc/switchyard/protocol"

// Job is a job of a workload, complete and ready to be simulated.
type Job struct {
	ID       int64             // in its trace; unique there
	Origin   int               // index of the machine where it is submitted, in a workload of several
	User     int               // who submits it, by the trace's number; -1: not known
	Submit   protocol.Instant  // since the workload's beginning
	Run      protocol.Duration // on a CPU of its origin; at least 1 ms
	Estimate protocol.Duration // what its user asks for there; at least Run
	CPUs     int               // at least 1
	Power    int               // that it draws, in parts per million of what the site states; 0: not stated
}

// Work is the CPU·ms that the job keeps busy at its origin.
func (j Job) Work() int64 { return int64(j.CPUs) * int64(j.Run) }
