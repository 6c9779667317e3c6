package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/quantity"
	"github.com/switchyard-hpc/switchyard/internal/slurmtext"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// accountingQuery is what sacct is asked.
type accountingQuery struct {
	jobFilter

	steps        []protocol.JobName // of which the batch step is wanted alone
	since, until protocol.Instant   // 0: not said
	groups       []string           // numbers or names
}

// sacct lists jobs that have ended, and those of now.
func (c *slurmCall) sacct(ctx context.Context) error {
	if c.has("helpformat") {
		c.printf("%s", accountingFields())
		return nil
	}
	if units, set := c.value("units"); set && (units == "" || !strings.Contains("KMGTP", strings.ToUpper(units[:1]))) {
		return saying("sacct: error: Invalid unit type '"+units+"'. Possible options are 'KMGTP'", "sacct: fatal: Invalid unit type")
	}
	format, err := c.accountingFormat()
	if err != nil {
		return err
	}
	wanted, err := c.accountingQuery(ctx)
	if err != nil {
		return err
	}
	info, err := c.client().Info(ctx)
	if err != nil {
		return err
	}
	jobs, err := c.accountedJobs(ctx, wanted)
	if err != nil {
		return err
	}
	records := c.records(ctx, wanted, jobs, info.Site)
	if c.has("json") {
		return c.recordsInJSON(records)
	}
	if !c.has("noheader") {
		c.printf("%s\n", format.Header())
	}
	steps, whole := newNameSet(wanted.steps), newNameSet(wanted.jobs)
	for _, one := range records {
		c.printRecord(format, !steps.has(&one.Job.Job) || whole.has(&one.Job.Job), one)
	}
	return nil
}

// printRecord prints a job, unless its step alone is wanted, and, if it has started and steps are wanted, its batch step.
func (c *slurmCall) printRecord(format slurmtext.Accounting, whole bool, record *slurmtext.Record) {
	if whole {
		c.printf("%s\n", format.Line(record))
	}
	if record.Started != 0 && !c.has("allocations") {
		c.printf("%s\n", format.Line(&slurmtext.Record{Job: record.Job, Batch: true}))
	}
}

// records are the jobs as the accounting has them.
func (c *slurmCall) records(ctx context.Context, wanted *accountingQuery, jobs []view.Job, cluster protocol.SiteName) (records []*slurmtext.Record) {
	for i := range jobs {
		one := &slurmtext.Record{Job: *c.row(ctx, jobs[i], cluster)}
		if wanted.groups != nil && !slices.Contains(wanted.groups, one.Group) && !slices.Contains(wanted.groups, strconv.FormatUint(uint64(one.GID), 10)) {
			continue
		}
		if by := one.CancelledBy; by != "" {
			one.Canceller = strconv.FormatUint(uint64(c.account(ctx, by).UID), 10)
		}
		records = append(records, one)
	}
	return records
}

// recordsInJSON prints jobs as sacct --json does.
func (c *slurmCall) recordsInJSON(records []*slurmtext.Record) error {
	jobs := []slurmtext.Object{}
	for _, one := range records {
		jobs = append(jobs, one.JSON())
	}
	return c.inSlurmJSON("openapi/dbv0.0.38", "jobs", jobs)
}

// accountingFields lists the fields in columns, as sacct --helpformat does.
func accountingFields() string {
	var out strings.Builder
	for i, column := range slurmtext.AccountingColumns() {
		const perLine = 4
		fmt.Fprintf(&out, "%-19s", column.Name)
		if i%perLine == perLine-1 {
			out.WriteByte('\n')
		} else {
			out.WriteByte(' ')
		}
	}
	return strings.TrimRight(out.String(), " \n") + "\n"
}

func (c *slurmCall) accountingFormat() (slurmtext.Accounting, error) {
	text := c.getenv("SACCT_FORMAT")
	switch given, set := c.value("format"); {
	case set:
		text = given
	case c.has("brief"):
		text = slurmtext.BriefFormat
	case c.has("long"):
		text = slurmtext.LongFormat
	case text == "":
		text = slurmtext.AccountingFormat
	}
	delimiter := ""
	if c.has("parsable") || c.has("parsable2") {
		delimiter = "|"
		if given, set := c.value("delimiter"); set {
			delimiter = given
		}
	}
	format, unknown := slurmtext.ParseAccounting(text, delimiter, c.has("parsable") && !c.has("parsable2"))
	if unknown != "" {
		return format, saying(fmt.Sprintf("sacct: error: Invalid field requested: %q", unknown))
	}
	return format, nil
}

// accountingQuery reads which jobs are wanted.
func (c *slurmCall) accountingQuery(ctx context.Context) (q *accountingQuery, err error) {
	if len(c.rest) > 0 {
		lines := []string{"sacct: error: Unknown arguments:"}
		for _, word := range c.rest {
			lines = append(lines, "sacct: error:  "+word)
		}
		return nil, saying(lines...)
	}
	q = &accountingQuery{groups: c.list("group", "")}
	q.names, q.accounts, q.partitions, q.qos = c.list("name", ""), c.list("accounts", ""), c.list("partition", ""), c.list("qos", "")
	if list, set := c.value("nodelist"); set {
		if q.sites, err = slurmtext.ExpandHosts(list); err != nil {
			return nil, saying("sacct: error: " + err.Error())
		}
	}
	if err = c.accountingJobs(q); err != nil {
		return nil, err
	}
	if err = c.accountingUsers(ctx, q); err != nil {
		return nil, err
	}
	for _, name := range c.list("state", "") {
		state, known := slurmtext.ParseState(name)
		if !known {
			return nil, saying(fmt.Sprintf("sacct: fatal: unrecognized job state value '%s'", name))
		}
		q.states = append(q.states, state)
	}
	if err = c.accountingPeriod(q); err != nil {
		return nil, err
	}
	if until := cmp.Or(q.until, c.clock.Now); q.since > until {
		return nil, saying(fmt.Sprintf("sacct: error: Start time (%s) requested is after end time (%s).", c.clock.Time(q.since, ""), c.clock.Time(until, "")))
	}
	return q, nil
}

// accountingJobs reads IDs of jobs, and of their batch steps.
func (c *slurmCall) accountingJobs(q *accountingQuery) error {
	list, _ := c.value("jobs")
	for _, text := range slurmtext.SplitList(list) {
		name, step, isStep := strings.Cut(text, ".")
		names, err := c.jobNames(name)
		switch {
		case err != nil && decimalOnly(name): // an ID of Slurm, which no job has
			q.nothing = true
		case err != nil:
			return saying("sacct: fatal: Bad job/step specified: " + text)
		case isStep && step != "batch":
			q.nothing = true
		case isStep:
			q.steps = append(q.steps, names...)
		default:
			q.jobs = append(q.jobs, names...)
		}
	}
	q.nothing = q.nothing && len(q.jobs)+len(q.steps) == 0
	return nil
}

// accountingUsers reads whose jobs are wanted: the caller's own, unless others are named, or jobs.
func (c *slurmCall) accountingUsers(ctx context.Context, q *accountingQuery) error {
	users := c.list("user", "")
	switch {
	case c.has("allusers"):
		return nil
	case users == nil && len(q.jobs)+len(q.steps) == 0 && c.uid != 0:
		me, err := userName(ctx)
		if err != nil {
			return err
		}
		users = []string{me}
	}
	unknown, err := c.readUsers(ctx, &q.jobFilter, users)
	if err == nil && len(unknown) > 0 {
		err = saying("sacct: error: Invalid user id: " + unknown[0])
	}
	return err
}

// accountingPeriod reads the period. Without one it is today; of jobs that are named, all time.
func (c *slurmCall) accountingPeriod(q *accountingQuery) error {
	now := c.clock.Now.Time()
	for _, one := range []struct {
		long string
		to   *protocol.Instant
	}{{"starttime", &q.since}, {"endtime", &q.until}} {
		text, set := c.value(one.long)
		if !set {
			continue
		}
		at, err := quantity.ParseInstant(text, now, quantity.Behind)
		if err != nil {
			return saying("Invalid time specification (pos=0): " + text)
		}
		*one.to = max(1, at) // nothing has ended before 1970
	}
	if _, set := c.value("starttime"); !set && len(q.jobs)+len(q.steps) == 0 {
		local := now.Local() //nolint:gosmopolitan // people's own midnight, as in Slurm
		q.since = protocol.InstantOf(time.Date(local.Year(), local.Month(), local.Day(), 0, 0, 0, 0, local.Location()))
		if q.states != nil && q.until == 0 { // with states, sacct asks of now
			q.since = protocol.InstantOf(now)
		}
	}
	return nil
}

// accountedJobs are the jobs that meet the conditions and were eligible in the period, by their IDs.
func (c *slurmCall) accountedJobs(ctx context.Context, q *accountingQuery) (jobs []view.Job, err error) {
	if q.nothing {
		return nil, nil
	}
	names := slices.Concat(q.jobs, q.steps)
	set := newNameSet(names)
	guests := view.WithoutGuests
	if c.asGuest() {
		guests = view.WithGuests
	}
	live := api.Listing{QueueFilter: view.QueueFilter{Users: q.users, Guests: guests, Elements: c.has("array")}}
	if jobs, err = c.listed(ctx, live, names); err != nil {
		return nil, err
	}
	past := api.Past{HistoryFilter: view.HistoryFilter{Jobs: idsOf(names), Users: q.users, Since: q.since, Guests: guests, Earlier: c.has("duplicates")}}
	err = c.client().HistoryPages(ctx, past, 0, func(page []view.Job) error {
		if len(names) > 0 {
			page = set.only(page)
		}
		jobs = append(jobs, page...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	jobs = append(jobs, c.neverJobs(ctx, names, jobs)...)
	jobs = slices.DeleteFunc(jobs, func(job view.Job) bool {
		return !q.inPeriod(&slurmtext.Job{Job: job, Clock: &c.clock}) || !q.wants(&job)
	})
	slices.SortStableFunc(jobs, func(x, y view.Job) int {
		return cmp.Or(cmp.Compare(x.ID, y.ID), earlierFirst(&x, &y), cmp.Compare(x.Epoch, y.Epoch))
	})
	return slices.CompactFunc(jobs, func(x, y view.Job) bool { // a job may have ended between the two answers
		return x.ID == y.ID && x.Earlier == y.Earlier && (!x.Earlier || x.Epoch == y.Epoch)
	}), nil
}

// earlierFirst has the earlier runs of a job before the last one.
func earlierFirst(x, y *view.Job) int {
	switch {
	case x.Earlier == y.Earlier:
		return 0
	case x.Earlier:
		return -1
	}
	return 1
}

// neverJobs are elements that are named, are not among the jobs, and were cancelled before they were to be placed.
func (c *slurmCall) neverJobs(ctx context.Context, names []protocol.JobName, jobs []view.Job) (more []view.Job) {
	found := map[protocol.JobID]bool{}
	for i := range jobs {
		found[jobs[i].ID] = true
	}
	for _, name := range names {
		if name.Elements.IsZero() || found[idOf(name)] {
			continue
		}
		if job, err := c.client().Job(ctx, name); err == nil {
			more = append(more, job)
		}
	}
	return more
}

// inPeriod says whether a job was eligible to start, or ran, within the period. Without one, jobs that are held are meant, too.
func (q *accountingQuery) inPeriod(job *slurmtext.Job) bool {
	if q.since == 0 && q.until == 0 {
		return true
	}
	at := job.Eligible()
	return at != 0 && at <= cmp.Or(q.until, job.Now) && (job.Ended == 0 || job.Ended >= q.since)
}

// wants says whether a job meets the conditions. A state with a period is one that the job had then: all jobs that ran in it
// were running.
func (q *accountingQuery) wants(job *view.Job) bool {
	filter := q.jobFilter
	if q.since != 0 && q.until != 0 && job.Started != 0 && job.Started <= q.until && slices.Contains(q.states, protocol.Running) {
		filter.states = nil
	}
	return filter.wants(job)
}
