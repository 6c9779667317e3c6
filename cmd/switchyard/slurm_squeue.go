package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/slurmtext"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// jobFilter are conditions of squeue, scancel and sacct that the peer does not check.
type jobFilter struct {
	names, users, accounts, partitions, qos, sites, licenses []string
	states                                                   []protocol.State   // nil: any
	nothing                                                  bool               // no job meets the conditions
	jobs                                                     []protocol.JobName // that are named; nil: all
	own                                                      *view.Job          // guest in which the command runs, if jobs of its user are wanted
}

func oneIn(list []string, value string) bool { return list == nil || slices.Contains(list, value) }

// foldIn is [oneIn] for names of accounts and of QOS, whose case does not count.
func foldIn(list []string, value string) bool {
	return list == nil || slices.ContainsFunc(list, func(one string) bool { return strings.EqualFold(one, value) })
}

// wants says whether a job meets the conditions.
func (f *jobFilter) wants(job *view.Job) bool {
	row := slurmtext.Job{Job: *job}
	partition := f.partitions == nil || slices.ContainsFunc(fieldsOf(row.Partitions()), func(p string) bool { return slices.Contains(f.partitions, p) })
	license := f.licenses == nil || slices.ContainsFunc(job.Resources, func(r protocol.Resource) bool {
		return r.Name == protocol.License && slices.Contains(f.licenses, r.Type)
	})
	return !f.nothing && partition && license && oneIn(f.names, job.Name) && f.ofUsers(job) && foldIn(f.accounts, job.Account) &&
		foldIn(f.qos, job.QOS) && (f.sites == nil || job.Started != 0 && slices.Contains(f.sites, string(job.Site))) &&
		(f.states == nil || slices.Contains(f.states, job.State))
}

// ofUsers says whether a job is one of the users that are wanted. A user of another site with the name of the guest's is
// somebody else.
func (f *jobFilter) ofUsers(job *view.Job) bool {
	return oneIn(f.users, job.User) && (f.own == nil || job.User != f.own.User || sameUser(f.own, job))
}

// sameUser says whether two jobs are of one user: names of users are those of their sites.
func sameUser(x, y *view.Job) bool { return x.User == y.User && x.Origin == y.Origin }

// addTo has the peer check conditions, so that few jobs are sent, and of those that have ended the last ones that are wanted.
// States that no job in Switchyard has are left out.
func (f *jobFilter) addTo(wanted *api.Listing) {
	wanted.Users, wanted.Names = f.users, f.names
	wanted.States = slices.DeleteFunc(slices.Clone(f.states), func(s protocol.State) bool { return s == 0 })
}

// readUsers reads names and numbers of users. Like squeue it goes on without those that do not exist; unknown are these.
func (c *slurmCall) readUsers(ctx context.Context, f *jobFilter, users []string) (unknown []string, err error) {
	for _, name := range users {
		found, failed := userByNameOrID(ctx, name)
		if failed != nil {
			unknown = append(unknown, name)
			continue
		}
		if c.asGuest() && int64(found.UID) == int64(os.Geteuid()) {
			if f.own, err = c.ownGuest(ctx); err != nil {
				return nil, err
			}
			found.Name = f.own.User
		}
		f.users = append(f.users, found.Name)
	}
	f.nothing = f.nothing || len(users) > 0 && len(f.users) == 0
	return unknown, nil
}

// ownGuest is the job of another site in which the command runs. The name of its account stands for its user, who has another
// name there. Which job that is the environment alone says: users whose jobs share the account could claim to be each other, as
// they could end each other's processes.
func (c *slurmCall) ownGuest(ctx context.Context) (*view.Job, error) {
	text := c.getenv("SWITCHYARD_JOB_ID")
	id, err := protocol.ParseJobID(text)
	if err != nil {
		return nil, saying(fmt.Sprintf("%s: error: SWITCHYARD_JOB_ID=%s is not the ID of the job in which this command runs; name jobs by their IDs", c.name, text))
	}
	job, err := c.client().Job(ctx, protocol.JobName{Job: id})
	if refused, ok := errorOf(err); ok && refused.Code == view.NotFound {
		return nil, saying(fmt.Sprintf("%s: error: job %s, in which this command runs, is not known here, or has ended: whose jobs are meant is not known; "+
			"name jobs by their IDs", c.name, text))
	}
	return &job, err
}

// squeue lists jobs.
func (c *slurmCall) squeue(ctx context.Context) error {
	show, err := c.queueFormat()
	if err != nil {
		return err
	}
	wanted, filter, err := c.queueFilter(ctx)
	if err != nil {
		return err
	}
	info, err := c.client().Info(ctx)
	if err != nil {
		return err
	}
	jobs, err := c.listed(ctx, wanted, filter.jobs)
	if err != nil {
		return err
	}
	if len(filter.jobs) == 1 && len(jobs) == 0 && filter.jobs[0].Elements.IsZero() {
		if err = c.isJob(ctx, filter.jobs[0].Job); err != nil {
			return err
		}
	}
	var rows []*slurmtext.Job
	for i := range jobs {
		if filter.wants(&jobs[i]) {
			rows = append(rows, c.row(ctx, jobs[i], info.Site))
		}
	}
	if unknown := slurmtext.Sort(slurmtext.QueueOrders(), rows, c.queueOrder()); len(unknown) > 0 {
		return saying("squeue: error: Invalid sort specification: " + unknown[len(unknown)-1])
	}
	return show(rows)
}

// queueOrder are the letters by which rows are sorted.
func (c *slurmCall) queueOrder() string {
	by, set := c.value("sort")
	switch {
	case set:
		return by
	case c.getenv("SQUEUE_SORT") != "":
		return c.getenv("SQUEUE_SORT")
	case c.has("start"):
		return "S"
	}
	return "P,t,i"
}

// isJob says whether there is, or was, a job, in the words of squeue if not.
func (c *slurmCall) isJob(ctx context.Context, id protocol.JobID) error {
	_, err := c.client().Job(ctx, protocol.JobName{Job: id})
	if refused, ok := errorOf(err); ok && refused.Code == view.NotFound {
		return saying("slurm_load_jobs error: Invalid job id specified")
	}
	return err
}

// queueFormat is what prints the rows.
func (c *slurmCall) queueFormat() (show func([]*slurmtext.Job) error, err error) {
	letters, short := c.value("format")
	names, long := c.value("Format")
	switch {
	case c.has("json"):
		return c.jobsInJSON, nil
	case short && long:
		return nil, saying("squeue: error: -O (--Format) is incompatible with -o (--format)")
	case short && c.has("long"):
		return nil, saying("squeue: fatal: Options -o(--format) and -l(--long) are mutually exclusive. Please remove one and retry.")
	case !short && !long:
		names, letters = c.usualQueueFormat()
		long = names != ""
	}
	read := slurmtext.ParseLetters[slurmtext.Job]
	text := letters
	if long {
		read, text = slurmtext.ParseNames[slurmtext.Job], names
	}
	format, unknown := read(slurmtext.QueueColumns(), text)
	for _, one := range unknown {
		c.notice("error: Invalid job format specification: %s", one)
	}
	return func(rows []*slurmtext.Job) error {
		c.printTitles(format.Header())
		for _, row := range rows {
			c.printf("%s\n", format.Line(row))
		}
		return nil
	}, nil
}

// usualQueueFormat is what squeue prints without -o and -O: names of columns, or letters.
func (c *slurmCall) usualQueueFormat() (names, letters string) {
	switch {
	case c.has("long"):
		return "", slurmtext.QueueLongFormat
	case c.has("start"):
		return "", slurmtext.QueueStartFormat
	case c.getenv("SQUEUE_FORMAT") != "":
		return "", c.getenv("SQUEUE_FORMAT")
	case c.getenv("SQUEUE_FORMAT2") != "":
		return c.getenv("SQUEUE_FORMAT2"), ""
	}
	return "", slurmtext.QueueFormat
}

// queueFilter reads which jobs are wanted.
func (c *slurmCall) queueFilter(ctx context.Context) (wanted api.Listing, f *jobFilter, err error) {
	wanted.Guests, wanted.Elements = view.WithoutGuests, c.has("array") || c.getenv("SQUEUE_ARRAY") != ""
	if c.asGuest() {
		wanted.Guests = view.WithGuests
	}
	f = &jobFilter{
		names: c.list("name", "SQUEUE_NAMES"), accounts: c.list("account", "SQUEUE_ACCOUNT"), partitions: c.list("partition", "SQUEUE_PARTITION"),
		qos: c.list("qos", "SQUEUE_QOS"), licenses: c.list("licenses", "SQUEUE_LICENSES"),
	}
	if err = c.queueJobs(f); err != nil {
		return wanted, nil, err
	}
	users := c.list("user", "SQUEUE_USERS")
	if c.has("me") {
		me, failed := userName(ctx)
		if failed != nil {
			return wanted, nil, failed
		}
		users = append(users, me)
	}
	unknown, err := c.readUsers(ctx, f, users)
	if err != nil {
		return wanted, nil, err
	}
	for _, name := range unknown {
		c.notice("error: Invalid user: %s\n", name)
	}
	if err = c.queueSites(ctx, f, "node"); err != nil {
		return wanted, nil, err
	}
	err = c.queueStates(&wanted, f)
	f.addTo(&wanted)
	return wanted, f, err
}

// queueJobs reads the jobs that are named.
func (c *slurmCall) queueJobs(f *jobFilter) error {
	if slices.Contains(c.rest, "") { // -j takes no word after it, as in Slurm, so that this is one of its own
		return saying("squeue: error: an empty word; after -j, give IDs, or leave both out")
	}
	if len(c.rest) > 0 && (!c.has("jobs") || len(c.rest) > 1) {
		return saying("squeue: error: Unrecognized option: "+c.rest[0], strings.TrimSuffix(slurmUsage(c.name), "\n"))
	}
	ids, _ := c.value("jobs")
	for _, text := range slurmtext.SplitList(strings.Join(append(c.rest, ids), ",")) {
		names, failed := c.jobNames(text)
		switch {
		case failed == nil:
			f.jobs = append(f.jobs, names...)
		case !decimalOnly(strings.TrimSpace(text)) || !strings.Contains(ids, ","):
			return c.noJobID(text)
		default: // of several, squeue leaves out those that do not exist
			f.nothing = len(f.jobs) == 0
		}
	}
	f.nothing = f.nothing && len(f.jobs) == 0
	return nil
}

// noJobID rejects what is no ID of a job here. Numbers may be IDs of Slurm.
func (c *slurmCall) noJobID(text string) error {
	if decimalOnly(strings.TrimSpace(text)) {
		return saying("slurm_load_jobs error: Invalid job id specified")
	}
	return saying(fmt.Sprintf("%s: error: Invalid job id: %s", c.name, text))
}

// queueSites reads the option with a list of nodes.
func (c *slurmCall) queueSites(ctx context.Context, f *jobFilter, option string) error {
	list, set := c.value(option)
	if !set {
		return nil
	}
	names, err := slurmtext.ExpandHosts(list)
	if err != nil {
		return saying(fmt.Sprintf("%s: error: '%s' invalid entry for --nodelist", c.name, list))
	}
	sites, err := c.client().Sites(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !slices.ContainsFunc(sites.Sites, func(s view.Site) bool { return string(s.Site) == name }) {
			return saying(fmt.Sprintf("%s: error: Invalid node name %s", c.name, name))
		}
	}
	f.sites = names
	return nil
}

// queueStates reads --states. Terminal ones also list jobs that have ended.
func (c *slurmCall) queueStates(wanted *api.Listing, f *jobFilter) error {
	names := c.list("states", "SQUEUE_STATES")
	switch {
	case names != nil:
	case c.has("start"):
		names = []string{"PD"}
	case c.has("json"):
		names = []string{"all"}
	default:
		f.states = []protocol.State{protocol.Pending, protocol.Running}
	}
	for _, name := range names {
		if strings.EqualFold(name, "all") && len(names) == 1 {
			f.states, wanted.Finished = nil, defaultRecent
			return nil
		}
		state, known := slurmtext.ParseState(name)
		switch {
		case !known:
			return saying("squeue: error: Invalid job state specified: "+name, "squeue: error: Valid job states include: "+slurmtext.JobStates, "")
		case state.Terminal():
			wanted.Finished = defaultRecent
		}
		f.states = append(f.states, state)
	}
	return nil
}

// jobsInJSON prints jobs as squeue --json does.
func (c *slurmCall) jobsInJSON(rows []*slurmtext.Job) error {
	jobs := []slurmtext.Object{}
	for _, row := range rows {
		jobs = append(jobs, row.JSON())
	}
	return c.inSlurmJSON("openapi/v0.0.38", "jobs", jobs)
}

// inSlurmJSON prints a list as the commands of Slurm 22.05 do, in the format of one of its plugins.
func (c *slurmCall) inSlurmJSON(plugin, name string, list []slurmtext.Object) error {
	out := json.NewEncoder(c.stdout)
	out.SetIndent("", "  ")
	out.SetEscapeHTML(false)
	return out.Encode(slurmtext.Object{
		"meta": slurmtext.Object{
			"plugin": slurmtext.Object{"type": plugin, "name": "Switchyard " + version},
			"Slurm": slurmtext.Object{
				"release": strings.TrimPrefix(slurmVersion, "slurm "), "version": slurmtext.Object{"major": 22, "micro": 8, "minor": 5},
			},
		},
		"errors": []string{},
		name:     list,
	})
}
