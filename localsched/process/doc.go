// Package process is a batch system over real processes of this machine. It
// drives a localsched/engine, keeps each job in a directory of its own, and runs
// each under a small process that outlives the peer, the shim.
//
//	peer                      shim (a session of its own)        job (the account)
//	────                      ───────────────────────────        ─────────────────
//	Submit ▸ job.json script
//	engine says: start ─────► link "started" (one wins)
//	running ◄──── pipe ────── {boot id, pid, pid start time}
//	                          second stage ────────────────────► open out, err;
//	Kill ──── pidfd, TERM ──► TERM, grace, KILL ───────────────► chdir; exec script
//	                          wall-time limit, stray children,
//	                          room for output                 ◄─ ends
//	ended ◄── pidfd is read ─ rename "exit"
//
// # The spool
//
// What every spool has is localsched/spool's. A job's directory here:
//
//	<Dir>/likely                   measured power draw of earlier jobs, with [Config].Learn
//	<Dir>/promised                 when jobs that wait shall start, under a policy that promises that
//	<Dir>/jobs/<job>.<epoch>/
//	    job.json                   with the job's number and its grace time
//	    script, work/, out, err    as in every spool
//	    steps                      the number of the next step, and locks of CPUs, see localsched/tasks
//	    place                      the partition that the job is given, on a machine of such
//	    started                    made once: who watches the job and where it runs, or "withdrawn"
//	    exit                       how it ended, and what it has done
//	    shim.log                   what the shim had to say, mostly nothing
//
// A directory is filled under another name, synced, and renamed before Submit
// answers. The file started is made by link(2), which one caller alone can win:
// a shim, or a withdrawal. So no job starts twice and no withdrawn job starts,
// whatever crashes when. A job whose started has no exit and no living shim is
// NODE_FAIL.
//
// After a restart the engine gets first the running jobs with their start times, then the advance
// reservations, then the pending jobs in the order of submission with their planned starts. Then it
// makes one pass. So a restart changes no start.
//
// # Processes
//
// Where the machine allows it, each job has a control group ([cgroup.Group]), named in the
// file started. The shim makes it and puts the second stage into it before that has begun.
// At the end of a job the shim ends the group, and if the shim was killed the peer does,
// before it reports NODE_FAIL: so nothing of a job outlives it. The group limits the memory
// that the job asks for, and [Config].MaxProcesses. Without groups a shim ends its job's
// process group and, as their new parent, what has left that; the peer ends the session of a
// shim that was killed. [Scheduler.Uncontained] says what is lacking.
//
// # Output
//
// The second stage limits the size of each file that a guest writes to [Config].MaxOutput.
// No more than that of its output is read, announced and returned, and the reading ends when
// its context does.
//
// For each output file of a guest some of the disk is allocated beyond its end: first by the
// second stage, and again by the shim every second. A file that has used this up when there is
// no more to allocate may lack output, so that the job has failed, whatever its script says.
// What was not used is given back when the job has ended.
//
// # Clocks
//
// The engine has the time of the wall clock, see internal/wallclock. When that is set, or the machine
// was suspended, the scheduler creates a new engine, as after a restart. Running jobs keep the rest of
// their time limit by the monotonic clock, which shims use too. Planned starts of pending jobs keep
// their distance. Advance reservations and the hours of a budget refer to the wall clock, and follow
// it. Records that another peer reads later use the monotonic clock.
//
// # Usage
//
// The shim measures its job with a [usage.Meter]: at its end, and before that first after a
// tenth of a second, then after pauses that double up to half a minute. It adds what the job
// reports of itself in the file usage, and writes all of it down with how the job ended, so
// that it is there also after the peer was down meanwhile. Of a job whose shim was killed
// nothing is known.
//
// # Holds
//
// What the engine holds for a job is a record in the spool, synced before Reserve answers and
// given to the engine again after a restart, before anything is queued. It goes with its job,
// with Release, or when its time is over.
//
// # Power
//
// Within a budget ([Config].Budget) processes start when the engine admits them; jobs
// that wait for power are PENDING with the reason PowerBudget. Pending jobs keep the time
// of their submission over restarts, and with it the bound of their delay. A change of the
// budget wakes watchers, so that the peer reports the correct load.
//
// With [Config].Learn a job that does not state its power is expected to draw what
// earlier runs of its user and name have drawn: by its energy, where the machine measures
// that, else by its CPU time, see [BG 4.3], and by the run time. Jobs that ran for less than
// a second, ended while the peer was down, or were ended by its stop teach nothing.
//
// # Accounts
//
// A peer that runs as root runs each job as the job's account, never as uid 0. An
// ordinary one runs jobs of its own account alone. Whatever a job can name, its
// output files above all, is opened as the account.
//
// # The command
//
// The command line that [Config.Shim] gives must call [ShimMain] with the
// arguments that follow, before it does anything else.
package process
