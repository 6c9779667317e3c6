// Package bluegene makes the figures of [BG] again: what a power budget on-peak saves, and
// what it costs the jobs.
//
//	log of Intrepid, model of its half year, log SDSC-BLUE ─► periods: months of jobs of one seed
//	                                                                   │
//	exhibit: a figure ─► trials: which budget, range of powers, mode   │
//	    ▲                          │                                   ▼
//	    │                          └──► sim.Schedule by EASY, then within budgets of its mean power
//	    └── results: each schedule beside the default's ◄──────────────┘
//
// A period is scheduled by itself from an empty machine, as [BG 4.1] works "on a monthly
// base". Prices and budgets follow the site's clock, with its changes. The default is EASY;
// budgets are percentages of the mean power of its jobs in the period. What comes out
// depends on the options alone, not on how many run at once.
//
// The saving is that of the job energy cost per delivered node-hour over the same jobs:
// those that end within the period in both schedules, so that a schedule gains nothing by
// leaving work undone. The paper's raw figure, what all jobs' energy costs until the period
// ends, stands beside it.
package bluegene
