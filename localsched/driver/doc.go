// Package driver drives a batch engine for one batch system: it keeps the jobs that the
// engine has, carries the answers of the engine over to them, quotes from its plan, and
// reports in a change feed what becomes of the jobs. It has no clock, locks, files or
// processes: those are the runner's, which calls a [Driver] with the present instant and
// then does what [Driver.TakeWork] returns.
//
//	runner                                 what runs there
//	──────                                 ───────────────
//	localsched/process                     processes of this machine
//	localsched/powergate                        jobs handed to a batch system behind a power budget
//	localsched/virtual                     jobs under a virtual clock: the simulator's, the test harness's
//	      │
//	      │ Submit Leave Tick Hold Drop SetRules Quote …      ▲ Take: Starts, Kills, Spent
//	      ▼                                                   │ Next: when to call Tick
//	┌─ Driver ────────────────────────────────────────────────┴───┐
//	│ jobs, advance reservations, rules, what the budget withholds │──► changes.Feed
//	└──────┬───────────────────────────────────────────────────────┘
//	       ▼
//	localsched/engine, or an engine of a plugin
//
// After a restart of the runner, and when its clock was set, [Driver.Rebuild] makes the
// engine anew from the jobs: first what runs, since when the engine started it, then what is
// reserved, then what is pending, in the order of submission, with the reservations that the
// jobs had; then it makes one scheduling pass. So neither changes a start.
package driver
