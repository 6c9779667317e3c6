// Package powergate keeps a batch system that knows nothing of power within a power budget: it
// stands before Slurm or a plugin and hands jobs over one by one, when the budget lets
// them start.
//
//	peer                       gate                            batch system
//	────                       ────                            ────────────
//	Submit ▸ record, synced
//	                           the engine says: start
//	                           record "released", synced
//	                           Submit ───────────────────────► queue
//	◄──── Pending, Running ─── Watch, always ◄──────────────── runs
//	◄──── the end ──────────── record "ended", synced ◄─────── ends
//	                           the engine: its power is free
//
// The gate's mind is a localsched/engine with EASY within the budget, over a model of the
// whole machine. What that starts is given to the batch system, and holds its CPUs and its
// power until the batch system says that it has ended, also while it waits there. So no
// more is ever given than the machine holds.
//
// When a budget begins or falls, what the batch system has not started yet is taken back, the last
// given first, until all the rest is within the budget: it is withdrawn and forgotten there, and
// waits here again in its old place. A job that the batch system would start only after a budget
// begins that does not allow it is not given before that. So a job that was given off-peak does
// not wait in a queue that nobody can stop until it starts on-peak.
//
// # What it costs and does not see
//
// Among the jobs of the grid the engine chooses, not the batch system, also off-peak: its
// own priorities decide between these jobs and those of its other users. The jobs of
// those others are not seen: neither their CPUs nor their power count, and a job that the
// engine gives CPUs and the budget power may still have to wait behind them. Give the grid
// a budget of its own, less than that of the site. Jobs that the batch system had before
// there was a gate are passed on and not counted either.
//
// # Quotes
//
// A job that the gate would give away at once waits as the batch system says. Another one
// waits until the later of two times: when the gate would give it away, and when the batch
// system says that it would start if it came now. These are not added up, because the jobs
// that the gate has given away would count twice: they are what the gate's engine waits
// for, and they stand in the batch system's queue. What else is in that queue now has had
// as long to go away.
//
// # The records
//
//	<Dir>/<job>.<epoch>.json
//
// One for each job from Submit to Forget, replaced as a whole and synced before anything
// follows from it. Its state is
//
//	held       it waits here, with the time since when
//	released   the batch system may have it, or have it withdrawn again
//	recalled   it may have it, and must not get it again: it is being withdrawn
//	ended      it has told the end
//	refused    it would not have it; that is the end
//	withdrawn  it never starts
//
// When the gate is opened again, what is held is held again in the old order, and what is
// released counts until its end is told. The batch system is asked for it by its tag, also
// after any Submit that did not say yes or no. A job that it reliably does not have is held
// again, behind the others: the budget may be another by now. So is a job that was let go and
// whose record could not be read or written until the budget became another.
//
// A job that was given away and is then refused has FAILED, with the reason. One that is
// given away by the call of Submit itself is refused there, once its record is gone for good:
// until then Submit fails and FindByTag is unclear, because a restart would find the job.
package powergate
