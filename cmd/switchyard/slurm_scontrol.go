package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/slurmtext"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// scontrol shows jobs and sites, and changes jobs.
func (c *slurmCall) scontrol(ctx context.Context) error {
	if len(c.rest) == 0 {
		return saying("scontrol: error: there is no interactive mode; name a command, such as scontrol show job ID")
	}
	keyword, args := strings.ToLower(c.rest[0]), c.rest[1:]
	switch {
	case keyword == "version":
		c.printVersion()
		return nil
	case keyword == "help":
		c.printf("%s", slurmUsage(c.name))
		return nil
	case keyword == "ping":
		return c.ping(ctx)
	case len(keyword) > 1 && strings.HasPrefix("show", keyword):
		return c.show(ctx, keyword, args)
	case len(keyword) > 1 && strings.HasPrefix("update", keyword) || keyword == "updatejob":
		return c.update(ctx, args)
	}
	const suspend = "slurm_suspend error"
	change, changes := map[string]jobChange{
		"hold": {c.client().Hold, suspend}, "uhold": {c.client().Hold, suspend}, "release": {c.client().Release, suspend},
		"requeue": {c.requeue(api.Requeue{}), ""}, "requeuehold": {c.requeue(api.Requeue{Hold: true}), ""},
	}[keyword]
	switch {
	case changes && len(args) == 0:
		return saying("too few arguments for keyword:" + keyword)
	case changes:
		return c.change(ctx, args, change)
	case slices.Contains([]string{
		"suspend", "resume", "top", "notify", "write", "listpids", "wait_job", "create",
		"delete", "reconfigure", "shutdown", "takeover", "setdebug", "abort", "cancel_reboot", "reboot", "power", "token", "completing", "pidinfo",
	}, keyword):
		return saying(fmt.Sprintf("scontrol: error: %s is not supported by Switchyard", keyword))
	}
	return saying("invalid keyword: " + c.rest[0])
}

func (c *slurmCall) ping(ctx context.Context) error {
	info, err := c.client().Info(ctx)
	if err != nil {
		c.printf("Slurmctld(primary) at %s is DOWN\n", c.socket)
		return err
	}
	c.printf("Slurmctld(primary) at %s is UP\n", info.Site)
	return nil
}

// jobChange does something to jobs.
type jobChange struct {
	do     func(context.Context, protocol.JobName) error
	failed string // how Slurm begins what it says once more of a failure; empty: it does not
}

// requeue has jobs start again.
func (c *slurmCall) requeue(how api.Requeue) func(context.Context, protocol.JobName) error {
	return func(ctx context.Context, name protocol.JobName) error {
		done, err := c.client().Requeue(ctx, name, how)
		if done.Notice != "" {
			c.problem("%s", console.Plain(done.Notice))
		}
		return err
	}
}

// change does something to jobs, named as 1,2 or in words of their own, and goes on after an error.
func (c *slurmCall) change(ctx context.Context, args []string, change jobChange) error {
	failed := false
	for _, text := range slurmtext.SplitList(strings.Join(args, ",")) {
		text = strings.TrimPrefix(strings.TrimPrefix(text, "jobid="), "JobId=")
		names, err := c.jobNames(text)
		if err != nil {
			c.notChanged(text, view.Refusal{Code: view.NotFound}, change.failed)
			failed = true
		}
		err = eachJob(names, func(name protocol.JobName) error { return change.do(ctx, name) }, func(name protocol.JobName, why view.Refusal) {
			job := text
			if !name.Elements.IsZero() {
				job = name.String()
			}
			c.notChanged(job, why, change.failed)
			failed = true
		})
		if err != nil {
			return err
		}
	}
	if failed {
		return &slurmError{code: exitFailed}
	}
	return nil
}

// notChanged says why a job was not changed, and some of it once more behind what Slurm begins that with, if it does.
func (c *slurmCall) notChanged(job string, why view.Refusal, again string) {
	text := why.Reason
	switch {
	case why.Code == view.NotFound && strings.Contains(job, "_"):
		c.problem("%s: Invalid job id specified", job)
		return
	case why.Code == view.NotFound:
		text = "Invalid job id specified"
	case why.Code == view.Denied:
		text = "Access/permission denied"
	default:
		again = ""
	}
	c.problem("%s for job %s", text, job)
	if again != "" {
		c.problem("%s: %s", again, text)
	}
}

// show prints records of an entity.
func (c *slurmCall) show(ctx context.Context, keyword string, args []string) error {
	if len(args) == 0 {
		return saying("too few arguments for keyword:" + keyword)
	}
	entity, names := strings.ToLower(args[0]), args[1:]
	if key, value, found := strings.Cut(entity, "="); found {
		entity, names = key, append([]string{value}, names...)
	}
	is := func(whole string, least int) bool { return len(entity) >= least && strings.HasPrefix(whole, entity) }
	switch {
	case is("jobs", 1), entity == "jobid":
		return c.showJobs(ctx, names)
	case is("nodes", 1):
		return c.showNodes(ctx, names)
	case is("partitions", 1):
		return c.showPartition(ctx, names)
	case is("config", 2):
		return c.showConfig(ctx)
	case is("hostnames", 5), entity == "hostlist", entity == "hostlistsorted":
		return c.showHosts(entity, names)
	case is("steps", 2), is("reservations", 3), is("licenses", 2), is("burstbuffer", 2), is("daemons", 2), is("assoc_mgr", 2), is("federation", 2),
		is("topology", 2), is("dwstat", 2), is("aliases", 2), is("bbstat", 2), is("slurmd", 2):
		return saying(fmt.Sprintf("scontrol: error: show %s is not supported by Switchyard", entity))
	}
	return saying(fmt.Sprintf("invalid entity:%s for keyword:%s ", args[0], keyword))
}

// showJobs prints the records of jobs; without names, of all that have not ended.
func (c *slurmCall) showJobs(ctx context.Context, names []string) error {
	info, err := c.client().Info(ctx)
	if err != nil {
		return err
	}
	jobs, err := c.jobsToShow(ctx, names)
	if err != nil {
		return err
	}
	var rows []*slurmtext.Job
	for i := range jobs {
		rows = append(rows, c.row(ctx, jobs[i], info.Site))
	}
	if c.has("json") {
		return c.jobsInJSON(rows)
	}
	if len(rows) == 0 {
		c.printf("No jobs in the system\n")
	}
	for _, row := range rows {
		c.printRecordText(slurmtext.ShowJob(row, c.recordStyle()))
	}
	return nil
}

// jobsToShow are the jobs that are named, of an array its elements; without names, all that have not ended.
func (c *slurmCall) jobsToShow(ctx context.Context, args []string) (jobs []view.Job, err error) {
	if len(args) == 0 {
		return c.listed(ctx, api.Listing{QueueFilter: view.QueueFilter{Guests: view.WithoutGuests}}, nil)
	}
	for _, text := range args {
		names, err := c.jobNames(text)
		switch {
		case err != nil && decimalOnly(text):
			return nil, saying("slurm_load_jobs error: Invalid job id specified")
		case err != nil:
			return nil, saying("scontrol_print_job error: Invalid job id specified")
		}
		for _, name := range names {
			found, err := c.jobToShow(ctx, name)
			if err != nil {
				return nil, err
			}
			jobs = append(jobs, found...)
		}
	}
	return jobs, nil
}

// jobToShow is the job of a name, or what of an array has not ended.
func (c *slurmCall) jobToShow(ctx context.Context, name protocol.JobName) ([]view.Job, error) {
	job, err := c.client().Job(ctx, name)
	refused, ok := errorOf(err)
	switch {
	case ok && refused.Code == view.NotFound && !name.Elements.IsZero():
		return nil, saying(fmt.Sprintf("Job %s not found", name))
	case ok && (refused.Code == view.NotFound || refused.Code == view.BadRequest):
		return nil, saying("slurm_load_jobs error: Invalid job id specified")
	case err != nil:
		return nil, err
	case job.Array != nil && !job.State.Terminal():
		return c.listed(ctx, api.Listing{}, []protocol.JobName{name})
	}
	return []view.Job{job}, nil
}

func (c *slurmCall) recordStyle() slurmtext.RecordStyle {
	return slurmtext.RecordStyle{OneLine: c.has("oneliner"), Details: c.has("details")}
}

// printRecordText prints a record, with an empty line behind one of several lines.
func (c *slurmCall) printRecordText(text string) {
	c.printf("%s\n", text)
	if !c.has("oneliner") {
		c.printf("\n")
	}
}

func (c *slurmCall) showNodes(ctx context.Context, names []string) error {
	nodes, err := c.nodes(ctx)
	if err != nil {
		return err
	}
	if len(names) > 0 {
		wanted, err := slurmtext.ExpandHosts(strings.Join(names, ","))
		if err != nil {
			return saying("scontrol: error: " + err.Error())
		}
		var found []*slurmtext.Node
		for _, name := range wanted {
			i := slices.IndexFunc(nodes, func(n *slurmtext.Node) bool { return string(n.Site.Site) == name })
			if i < 0 {
				return saying(fmt.Sprintf("Node %s not found", name))
			}
			found = append(found, nodes[i])
		}
		nodes = found
	}
	if c.has("json") {
		return c.nodesInJSON(nodes)
	}
	for _, one := range nodes {
		c.printRecordText(slurmtext.ShowNode(one, c.recordStyle()))
	}
	return nil
}

func (c *slurmCall) showPartition(ctx context.Context, names []string) error {
	for _, name := range names {
		if name != slurmtext.Partition {
			return saying(fmt.Sprintf("Partition %s not found", name))
		}
	}
	nodes, err := c.nodes(ctx)
	if err != nil {
		return err
	}
	c.printRecordText(slurmtext.ShowPartition(nodes, c.recordStyle()))
	return nil
}

// showConfig prints the few settings that have a meaning here.
func (c *slurmCall) showConfig(ctx context.Context) error {
	info, err := c.client().Info(ctx)
	if err != nil {
		return err
	}
	c.printf("Configuration data as of %s\n", c.clock.Time(c.clock.Now, ""))
	for _, one := range [][2]string{
		{"AccountingStorageType", "accounting_storage/switchyard"},
		{"AcctGatherNodeFreq", "0 sec"}, // Toil reads this and SchedulerTimeSlice, and fails without
		{"ClusterName", string(info.Site)},
		{"JobRequeue", "0"},
		{"MailProg", "(null)"},
		{"MaxArraySize", strconv.Itoa(info.MaxArraySize)},
		{"SchedulerTimeSlice", "30 sec"},
		{"SchedulerType", "switchyard/" + info.Rules.Policy},
		{"SlurmctldHost[0]", string(info.Site)},
		{"SLURM_CONF", "(null)"},
		{"SLURM_VERSION", strings.TrimPrefix(slurmVersion, "slurm ")},
	} {
		c.printf("%-23s = %s\n", one[0], one[1])
	}
	c.printf("\nSlurmctld(primary) at %s is UP\n", info.Site)
	return nil
}

// showHosts prints the names of a list, or the list of names. Without any, those of the job's nodes.
func (c *slurmCall) showHosts(entity string, names []string) error {
	list := strings.Join(names, ",")
	if list == "" && strings.HasPrefix("hostnames", entity) {
		list = c.getenv("SLURM_JOB_NODELIST")
	}
	if list == "" {
		return &slurmError{lines: []string{"scontrol: error: host list is empty"}} // of which Slurm makes no failure
	}
	if strings.HasPrefix(list, "/") {
		data, err := os.ReadFile(list)
		if err != nil {
			return fmt.Errorf("read the list of hosts: %w", err)
		}
		list = strings.Join(strings.Fields(string(data)), ",")
	}
	hosts, err := slurmtext.ExpandHosts(list)
	switch {
	case err != nil:
		return saying("Invalid hostlist: " + list)
	case entity == "hostlist":
		c.printf("%s\n", slurmtext.JoinHosts(hosts))
	case entity == "hostlistsorted":
		c.printf("%s\n", slurmtext.JoinHosts(slurmtext.SortHosts(hosts)))
	default:
		for _, host := range hosts {
			c.printf("%s\n", host)
		}
	}
	return nil
}
