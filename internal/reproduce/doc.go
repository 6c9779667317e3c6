// Package reproduce makes the tables and figures of [MC] again, and what it left
// unmeasured, with the paper's values beside ours.
//
//	data directory ─► scene: sites, prices, jobs of one seed ─┐
//	                                                          ├─► sim.Run ─► outcome
//	exhibit: a table or figure ─► trials: who places jobs how ┘                 │
//	    ▲                                                                       │
//	    └── build ◄── study: every trial for every seed, several at once ◄──────┘
//	          │
//	          ▼
//	        Report: tables of estimates beside the paper's values, series
//
// Exhibits that are tables of strategies are data: mcmf.toml has their rows, columns and
// the paper's numbers. A trial that several exhibits need is run once. What comes out depends on the
// options alone, not on how many run at once.
//
// Costs are honest ones unless they are called the authors': the exact overlap of runs
// with hours ([MC] equation 7), and the time that a job is held for a cycle counts as
// wait. Dollars of the paper are shown but not compared, because most of them are a
// slip (facts/mcmf-experiments.md section 3); what is compared is the cost over that of
// the baseline, where every job runs at its origin.
package reproduce
