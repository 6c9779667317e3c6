// Package superscheduler makes the tables and figures of [SS] again, with the paper's numbers beside ours.
//
//	exhibit: a table or figure ─► sweeps: an experiment, settings, schemes, seeds
//	    ▲                              │
//	    │                              ▼
//	    │                  points: one scheme with one setting ─► experiment.Sweep ─► means over the seeds
//	    └── build ◄── study ◄──────────┘                              └► schedules ─► traits
//
// The experiments are the built-in heavy and light, and those of the real log in a directory of files. Exhibits
// share points: one that several need is simulated once, for as many seeds as the most of them need, and a value
// that the paper uses for a parameter is the experiment without that setting.
package superscheduler
