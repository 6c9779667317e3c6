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
// When a budget begins or falls, jobs that the batch system has not started yet are recalled, the
// last released first, until the rest is within the budget: they are withdrawn and forgotten there,
// and held here again in their old order. A job that the batch system would start only after the
// begin of a budget that does not allow it is not released. Otherwise a job that is released
// off-peak could wait in the batch system, which knows no budget, and start on-peak.
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
//	held       the gate has the job, with the time since when
//	released   the batch system may have the job
//	recalled   the batch system may have the job, which is being withdrawn
//	ended      the batch system has reported the end
//	refused    the batch system has refused the job, which has ended
//	withdrawn  the job never starts
//
// After a restart of the gate, held jobs are held again in the old order, and released jobs count
// until their end is reported. The gate looks a released job up by its tag, also after every
// Submit with an unclear result. A job that the batch system reliably does not have is held again,
// behind the others, because the budget may have changed. So is a released job whose record could
// not be read or written until the budget changed.
//
// A job that was given away and is then refused has FAILED, with the reason. One that is
// given away by the call of Submit itself is refused there, once its record is gone for good:
// until then Submit fails and FindByTag is unclear, because a restart would find the job.
package powergate
