// Package slurm drives a site's Slurm through its commands: sbatch, squeue, sinfo,
// scontrol, scancel and, where there is a database, sacct.
//
//	peer                        Slurm                       job (the account)
//	────                        ─────                       ─────────────────
//	Submit ▸ directory, synced
//	sbatch wrapper ───────────► queue
//	native.json, synced
//	                            starts the wrapper ───────► link "started" (one wins)
//	running ◄── squeue, claim ────────────────────────────  script
//	Withdraw ▸ link "started"                               rename "exit"
//	ended ◄──── squeue, jobcomp ─ ends the wrapper ◄──────  ends
//	end.json, synced
//
// # The spool
//
// What every spool has is localsched/spool's. Here there are also:
//
//	<Dir>/generation               counts the openings, for cursors
//	<Dir>/observed.json            waits that were estimated, and what came, of jobs of which kinds
//	<Dir>/jobs/<job>.<epoch>/
//	    launch                     0500, of the account; claims the job and runs script
//	    slurm.log                  of the account; what Slurm and launch had to say
//	    claim/                     0700, of the account
//	        started                made once: who runs the job, or "withdrawn", "closed"
//	        exit, trouble          how it ended, and its CPU time; what kept it from starting
//	        late                   it was claimed, and too late when the script was to begin
//	    native.json                Slurm's number, once Slurm has acknowledged the job
//	    end.json                   the outcome that was reported
//
// # One start, whatever Slurm does
//
// Slurm loses jobs that it has acknowledged when its controller is killed, takes
// some whose sbatch has failed, gives their numbers to others, and requeues. So
// what Slurm says never decides whether a job may start. What it gets is a wrapper,
// and the wrapper runs the script only if it makes the link started in the job's
// directory, which one caller alone can. A withdrawal makes the same link. Then a job
// can be submitted twice without harm, and the adapter does so: a job that the
// queue, the log of ended jobs and the database do not show, twice in a row, and
// that has no claim, is submitted again under its name. One that was claimed
// is given some time to write down its end, and then is NODE_FAIL.
//
// Jobs are known by name, sy.<site>.<job>.<epoch>, and owner; the number only
// chooses among those. Whatever is not a clear answer of sbatch is settled by
// asking the queue for the name.
//
// # Looking
//
// One look, every [Config].Poll, is one squeue, one sinfo and one scontrol show reservation,
// for all jobs, nodes and reservations, those of others included: they are the load. Every ten
// seconds the partitions and licenses are asked for too. Who needs a look while one is under way shares it.
// The state of a job is Slurm's; that it runs, its exit code and its times are the wrapper's
// where it has written them down. An exit code of 128 + n is taken for signal n, as shells
// mean it.
//
// # Quotes
//
// Three predictors estimate when a job would start:
//
//	plan    conservative backfilling over the nodes that take jobs, with their CPUs,
//	        memory and resources: beside the jobs that run, whatever partition they are in, and the
//	        reservations; behind the jobs that wait for the same nodes, in the order of
//	        their partitions' tiers and their priorities, and the jobs promised by the peer
//	runs    the same, with the times that jobs are likely to run in place of their limits:
//	        as long as others of the same user, account and limit that squeue has shown
//	slurm   sbatch --test-only, asked once for each shape as long as the queue stays
//	        the same, and for a few shapes in one Quote; later by as much as promised
//	        jobs move the plan
//
// A look is planned once, for all quotes. A job that several partitions admit is quoted for the
// one in which it starts first, and submitted to all of them.
//
// The estimates of a job are kept when it is submitted, and compared with what came
// when it starts. Of each predictor the last 200 pairs are kept of estimates of about the same
// length, sorted by the ratio (actual + 1 min) / (estimate + 1 min). A new estimate is
// multiplied by the ratios that stand at 10, 50 and 90 % of the pairs of jobs of the same user
// and name, number of CPUs and limit; where there are fewer than 20, of all jobs of that size;
// where these are few, of all jobs, and then the estimate as it is lies between P10 and P90,
// too. The predictor counts whose corrected estimates have been less wrong. As long as none has
// enough pairs, P10 to P90 covers what all of them say.
//
// # Advance reservations
//
// With [Config].Reservations an advance reservation is a reservation of Slurm's with the name of
// the job, and a record in the spool with its start. The reservation is made first: one without a
// record was never reported to the peer, and is deleted after a restart. One that is no longer
// needed is deleted at the next look at the queue.
//
// # Accounts
//
// A peer that runs as root submits each job as the job's account, never as uid 0. An
// ordinary one submits jobs of its own account alone.
package slurm
