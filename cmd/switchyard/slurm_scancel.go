package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/slurmtext"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// exitNotPermitted is the exit code of scancel for a job of somebody else: its number in Slurm in 8 bits.
const exitNotPermitted = 210

func errorOf(err error) (*api.Error, bool) { return errors.AsType[*api.Error](err) }

// scancel ends jobs.
func (c *slurmCall) scancel(ctx context.Context) error {
	if signal, set := c.value("signal"); set && strings.TrimPrefix(strings.ToUpper(signal), "SIG") != "KILL" && signal != "9" {
		return saying("scancel: error: --signal=" + signal + " is not supported: jobs are ended, without another signal than KILL; " +
			"use --signal of sbatch for one before the time limit")
	}
	filter, filtered, err := c.cancelFilter(ctx)
	if err != nil {
		return err
	}
	wanted, err := c.namesToCancel()
	switch {
	case err != nil:
		return err
	case len(c.rest) == 0 && !filtered:
		return saying("scancel: error: No job identification provided")
	case len(c.rest) > 0 && len(wanted) == 0:
		return nil
	}
	jobs, err := c.toCancel(ctx, wanted, filter)
	if err != nil {
		return err
	}
	others := 0
	if len(wanted) == 0 {
		if jobs, others, err = c.withoutOthers(ctx, jobs); err != nil {
			return err
		}
	}
	err = c.cancelAll(ctx, jobs)
	if err == nil && others > 0 {
		err = &slurmError{code: exitNotPermitted}
	}
	return err
}

// namesToCancel are the jobs that are named.
func (c *slurmCall) namesToCancel() (wanted []protocol.JobName, err error) {
	for _, text := range slurmtext.SplitList(strings.Join(c.rest, ",")) {
		names, failed := c.jobNames(text)
		switch {
		case failed != nil && decimalOnly(text):
			c.unknownJob(text)
		case failed != nil:
			return nil, saying("scancel: error: Invalid job id " + text)
		default:
			wanted = append(wanted, names...)
		}
	}
	return wanted, nil
}

// withoutOthers are those of the jobs, which no ID names, that are of the user of the guest in which the command runs. The peer
// would also end jobs of others that the account of the guest runs.
func (c *slurmCall) withoutOthers(ctx context.Context, jobs []view.Job) (own []view.Job, others int, err error) {
	if len(jobs) == 0 || !c.asGuest() {
		return jobs, 0, nil
	}
	guest, err := c.ownGuest(ctx)
	if err != nil {
		return nil, 0, err
	}
	for i := range jobs {
		if sameUser(guest, &jobs[i]) {
			own = append(own, jobs[i])
			continue
		}
		others++
		c.slurmExit(saying(fmt.Sprintf("scancel: error: Kill job error on job id %s: Access/permission denied", jobs[i].Label()),
			fmt.Sprintf("scancel: error: it is of %s of site %s, and this command runs in a job of %s of site %s", jobs[i].User, jobs[i].Origin, guest.User, guest.Origin)))
	}
	return own, others, nil
}

// unknownJob says that a job does not exist. Slurm's scancel is silent about it, and succeeds; so does this, but not silently.
func (c *slurmCall) unknownJob(id string) {
	if !c.has("quiet") {
		c.notice("error: Kill job error on job id %s: Invalid job id specified", id)
	}
}

// runsIn says whether the command runs in a job, or in an element of the array, of this name.
func (c *slurmCall) runsIn(name protocol.JobName) bool {
	own, err := protocol.ParseJobID(c.getenv("SWITCHYARD_JOB_ID"))
	if err != nil {
		return false
	}
	return idOf(name) == own || name.Elements.IsZero() && name.Job.String() == c.getenv("SLURM_ARRAY_JOB_ID")
}

// ownNotCancelled is why the job in which the command runs goes on. It is no success, unlike that of a job which does not exist:
// what this runs in does.
func (c *slurmCall) ownNotCancelled(name protocol.JobName) error {
	reason := "the peer does not show it to this account; with [api] private it shows jobs of its site only to their users"
	if own := c.getenv("SWITCHYARD_JOB_ID"); c.asGuest() && idOf(name).String() != own {
		reason = "the array is known only at " + c.getenv("SWITCHYARD_ORIGIN_SITE") + "; scancel " + own + " ends this element of it"
	}
	return saying(fmt.Sprintf("scancel: error: Kill job error on job id %s: this command runs in it, but %s", name, reason), "scancel: error: No job is cancelled")
}

// cancelFilter reads which jobs are to be ended; filtered says whether anything but IDs says so.
func (c *slurmCall) cancelFilter(ctx context.Context) (f *jobFilter, filtered bool, err error) {
	f = &jobFilter{
		names: c.list("jobname", "SCANCEL_NAME"), accounts: c.list("account", "SCANCEL_ACCOUNT"), partitions: c.list("partition", "SCANCEL_PARTITION"),
		qos: c.list("qos", "SCANCEL_QOS"),
	}
	if err = c.queueSites(ctx, f, "nodelist"); err != nil {
		return nil, false, err
	}
	if len(f.names) > 0 { // scancel has one name, in which commas count
		name, _ := c.value("jobname")
		f.names = []string{name}
		if name == "" {
			f.names = []string{c.getenv("SCANCEL_NAME")}
		}
	}
	states := c.list("state", "SCANCEL_STATE")
	for _, name := range states {
		state, known := slurmtext.ParseState(name)
		if !known || state.Terminal() {
			return nil, false, saying("Invalid job state specified: "+name, "Valid job states are PENDING, RUNNING, and SUSPENDED")
		}
		f.states = append(f.states, state)
	}
	filtered = f.names != nil || f.accounts != nil || f.partitions != nil || f.qos != nil || f.sites != nil || states != nil
	byUser, err := c.cancelUsers(ctx, f, filtered)
	return f, filtered || byUser, err
}

// cancelUsers reads whose jobs are to be ended; byUser says whether users are named. With other conditions, but neither users
// nor IDs, they are the caller's own, but for root.
func (c *slurmCall) cancelUsers(ctx context.Context, f *jobFilter, filtered bool) (byUser bool, err error) {
	users := c.list("user", "SCANCEL_USER")
	byUser = users != nil || c.has("me")
	if c.has("me") || filtered && !byUser && len(c.rest) == 0 && c.uid != 0 {
		me, failed := userName(ctx)
		if failed != nil {
			return false, failed
		}
		users = append(users, me)
	}
	unknown, err := c.readUsers(ctx, f, users)
	if err == nil && len(unknown) > 0 {
		err = saying("scancel: error: Invalid user name: " + unknown[0])
	}
	return byUser, err
}

// toCancel are the jobs that are named, or all, that meet the conditions.
func (c *slurmCall) toCancel(ctx context.Context, names []protocol.JobName, f *jobFilter) (jobs []view.Job, err error) {
	wanted := api.Listing{QueueFilter: view.QueueFilter{Guests: view.WithoutGuests}}
	if c.asGuest() {
		wanted.Guests = view.WithGuests
	}
	if len(names) == 0 {
		f.addTo(&wanted)
	}
	jobs, err = c.listed(ctx, wanted, names)
	if err != nil {
		return nil, err
	}
	open := map[protocol.JobID]bool{}
	for i := range jobs {
		open[nameOf(&jobs[i]).Job], open[jobs[i].ID] = true, true
	}
	for _, name := range names {
		if open[idOf(name)] {
			continue
		}
		ended, failed := c.client().Job(ctx, name)
		switch refused, ok := errorOf(failed); {
		case ok && refused.Code == view.NotFound && c.runsIn(name):
			return nil, c.ownNotCancelled(name)
		case ok && refused.Code == view.NotFound:
			c.unknownJob(name.String())
		case failed != nil:
			return nil, failed
		case c.has("verbose"):
			c.notice("error: Kill job error on job id %s: Job/step already completing or completed (%v)", name, ended.State)
		}
	}
	return slices.DeleteFunc(jobs, func(job view.Job) bool { return !f.wants(&job) || job.State.Terminal() }), nil
}

// cancelAll ends jobs, elements of one array together. With --interactive it asks about each first.
func (c *slurmCall) cancelAll(ctx context.Context, jobs []view.Job) error {
	ask := bufio.NewScanner(c.stdin)
	var names []protocol.JobName
	arrays := map[protocol.JobID]int{} // at which of the names
	for i := range jobs {
		job := &jobs[i]
		if c.has("interactive") {
			row := slurmtext.Job{Job: *job}
			c.printf("Cancel job_id=%s name=%s partition=%s [y/n]? ", job.Label(), console.Plain(job.Name), console.Plain(row.Partitions()))
			if !ask.Scan() || !strings.HasPrefix(strings.ToLower(ask.Text()), "y") {
				continue
			}
		}
		if c.has("verbose") {
			c.notice("Terminating job %s", job.Label())
		}
		name := nameOf(job)
		at, begun := arrays[name.Job]
		switch {
		case begun:
			names[at].Elements = names[at].Elements.Or(name.Elements)
		default:
			arrays[name.Job] = len(names)
			names = append(names, name)
		}
	}
	return c.end(ctx, names)
}

// end ends jobs, and goes on after an error. The job in which the command runs is the last: the command ends with it.
func (c *slurmCall) end(ctx context.Context, names []protocol.JobName) error {
	own := func(name protocol.JobName) int {
		if text := name.Job.String(); text == c.getenv("SWITCHYARD_JOB_ID") || text == c.getenv("SLURM_ARRAY_JOB_ID") {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(names, func(x, y protocol.JobName) int { return cmp.Compare(own(x), own(y)) })
	denied := false
	err := eachJob(names, func(name protocol.JobName) error { return c.client().CancelElements(ctx, name) }, func(name protocol.JobName, why view.Refusal) {
		if why.Code == view.Denied {
			denied = true
			c.slurmExit(saying(fmt.Sprintf("scancel: error: Kill job error on job id %s: Access/permission denied", name), "scancel: error: "+why.Reason))
			return
		}
		c.notice("error: Kill job error on job id %s: %s", name, why.Reason) // it has ended meanwhile
	})
	if err == nil && denied {
		err = &slurmError{code: exitNotPermitted}
	}
	return err
}
