// Package driver drives a batch engine for one batch system: it keeps the jobs of the engine,
// applies the engine's actions to them, quotes from its plan, and reports changes of the jobs in a
// change feed. It has no clock, locks, files or processes. Those belong to the runner, which calls
// a [Driver] with the present instant and then does the work that [Driver.TakeWork] returns.
//
//	runner                                 what runs there
//	──────                                 ───────────────
//	localsched/process                     processes of this machine
//	localsched/powergate                   jobs handed to a batch system behind a power budget
//	localsched/virtual                     jobs under a virtual clock: the simulator's, the test harness's
//	      │
//	      │ Submit Leave Tick Reserve SetRules Quote …        ▲ TakeWork: Starts, Kills, …
//	      ▼                                                   │ Next: when to call Tick
//	┌─ Driver ────────────────────────────────────────────────┴───┐
//	│ jobs, advance reservations, rules, what the budget withholds │──► changefeed.Feed
//	└──────┬───────────────────────────────────────────────────────┘
//	       ▼
//	localsched/engine, or an engine of a plugin
//
// localsched/live adds the wall clock and the loop for the first two.
//
// After a restart of the runner, and after its clock was set, [Driver.Rebuild] makes a new engine
// from the jobs: first the running ones, with the instants at which the engine started them, then
// the advance reservations, then the pending ones in the order of submission, with their reserved
// starts. Then it makes one scheduling pass. Neither event changes a start.
package driver
