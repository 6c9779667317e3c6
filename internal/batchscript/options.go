package batchscript

import (
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/oldnames"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Option is an option of a directive or of the command line.
type Option struct {
	Long  string // without the hyphens
	Short string // one letter; empty: none
	Value string // the value's name for people; empty: it takes none
	Maybe bool   // the value may be left out, and is only given as --long=value
	Help  string // empty: one of sbatch's that is not carried

	Also  string   // another long name, which is not documented
	Vars  []string // variables of the environment that stand for it, as sbatch has them
	Slurm bool     // sbatch(1) has it
	Note  string   // how a carried option of sbatch differs; empty: it does not

	set     func(w *jobOptions, value string) error
	verdict verdict
	inSlurm verdict // in #SBATCH and its variables
	partly  bool    // it is refused with some values
	whole   bool    // it is about the whole application, not one component
}

// Becomes is what becomes of an option of sbatch and, unless it is carried, why. In #SBATCH
// and in variables that may differ from the command line and #SWITCHYARD.
func (o Option) Becomes() (fate Fate, why string, inSlurm Fate, whyInSlurm string) {
	return o.verdict.Fate, o.verdict.why, o.inSlurm.Fate, o.inSlurm.why
}

// Options lists every option that is known, those of sbatch that are not carried included.
func Options() []Option {
	return append(honoured(), foreign()...)
}

func honoured() []Option {
	return slices.Concat(shape(), association(), files(), resources(), broker(), behavior(), conditions(), surroundings(), submission())
}

func shape() []Option {
	return []Option{
		{
			Long: "job-name", Short: "J", Value: "name", Help: "job name (default: name of the script)", set: setName,
			Slurm: true, Vars: []string{"SBATCH_JOB_NAME"},
		},
		{
			Long: "comment", Value: "text", Help: "comment, shown with the job",
			set: func(w *jobOptions, value string) error { w.spec.Comment = value; return protocol.CheckComment(value) }, Slurm: true,
			Note: "at a site with Slurm it is followed by the Switchyard job ID",
		},
		{
			Long: "ntasks", Short: "n", Value: "count", Help: "total number of tasks (default: 1, or nodes × ntasks-per-node)",
			set: counter(func(w *jobOptions) *int { return &w.tasks }), Slurm: true,
		},
		{
			Long: "nodes", Short: "N", Value: "count|min-max", Help: "number of nodes; of a range, the minimum is used (default: any)", set: setNodes,
			Slurm: true, Note: "of a range the minimum is used; without `--ntasks`, one task per node",
		},
		{
			Long: "ntasks-per-node", Value: "count", Help: "tasks per node",
			set: counter(func(w *jobOptions) *int { return &w.tasksPerNode }), Slurm: true, Also: "tasks-per-node",
		},
		{
			Long: "cpus-per-task", Short: "c", Value: "count", Help: "CPUs per task (default: 1)",
			set: counter(func(w *jobOptions) *int { return &w.cpusPerTask }), Slurm: true,
		},
		{
			Long: "mem", Value: "size[K|M|G|T|P]", Help: "memory per node; MB unless a unit is given (default: no requirement)", set: setMemory,
			Slurm: true, Vars: []string{"SBATCH_MEM_PER_NODE"}, partly: true,
			Note: "`0` (all memory of the nodes) is refused",
		},
		{
			Long: "mem-per-cpu", Value: "size[K|M|G|T|P]", Help: "memory per CPU", set: setMemoryPerCPU,
			Slurm: true, Vars: []string{"SBATCH_MEM_PER_CPU"}, Note: "the built-in batch system reserves it for all CPUs of the job",
		},
		{
			Long: "cpus", Value: "count[,count]", Help: "total number of CPUs, instead of tasks; of several counts the policy iss chooses one, and others use the first",
			set: setCPUs,
		},
		{
			Long: "time", Short: "t", Value: "limit[,limit]",
			Help: "time limit: min, min:s, h:min:s, d-h, d-h:min, d-h:min:s, or 1h30m; one, or one for each count of --cpus (default: 1:00:00)",
			set:  times(func(w *jobOptions) *[]protocol.Duration { return &w.limits }), Slurm: true, Vars: []string{"SBATCH_TIMELIMIT"},
			Note: "default: one hour; `UNLIMITED` is refused",
		},
		{
			Long: "time-min", Value: "limit", Help: "least time limit: the limit is lowered, at most to this, if the job then starts sooner",
			set: setMinTime, Slurm: true, Note: "the limit with which the job starts is in `SLURM_JOB_END_TIME`, and shown by `status`",
		},
		{Long: "sites", Value: "site[,site]", Help: "sites where the job may run (default: all)", set: setSites},
		{Long: "power-share", Value: "percent%", Help: "power draw of the job, as a percentage of the power of busy CPUs (default: 100%)", set: setPowerShare},
		{
			Long: "requeue", Help: "run the job again at another site if its site becomes unreachable",
			set: setRequeue(true), Slurm: true, Vars: []string{"SBATCH_REQUEUE"},
			Note: "the job may run again at another site if its site becomes unreachable; a site never runs it twice",
		},
		{
			Long: "no-requeue", Help: "start the job at most once: \"switchyard requeue\" refuses it (default: at most once unless its user requeues it)",
			set: setRequeue(false), Slurm: true, Vars: []string{"SBATCH_NO_REQUEUE"},
			Note: "`requeue` and `scontrol requeue` refuse the job; without this option and without `--requeue` it starts again only by them",
		},
	}
}

// association are the options about what a job is charged to, where at a site it runs, and how.
func association() []Option {
	const mapped = "mapped by each site; a site that maps none does not use it, and says so"
	return []Option{
		{
			Long: "account", Short: "A", Value: "name", Help: "account that the job is charged to, as sites map it (default: that of each site)",
			set:   named(func(a *protocol.Association) *string { return &a.Account }),
			Slurm: true, Vars: []string{"SBATCH_ACCOUNT"}, Note: mapped,
		},
		{
			Long: "partition", Short: "p", Value: "name[,name]", Help: "partition in which the job runs, as sites map it (default: any of each site)",
			set:   named(func(a *protocol.Association) *string { return &a.Partition }),
			Slurm: true, Vars: []string{"SBATCH_PARTITION"}, Note: mapped + "; of several, a site takes the first that it maps",
		},
		{
			Long: "qos", Short: "q", Value: "name", Help: "quality of service, as sites map it (default: that of each site)",
			set:   named(func(a *protocol.Association) *string { return &a.QOS }),
			Slurm: true, Vars: []string{"SBATCH_QOS"}, Note: "mapped by each site; a site that neither maps it nor has a price for it declines, as `sbatch` does with an unknown QOS",
		},
	}
}

// named takes a name of an association. An empty one takes back what a script asks for.
func named(field func(*protocol.Association) *string) func(*jobOptions, string) error {
	return func(w *jobOptions, value string) error {
		var one protocol.Association
		*field(&one) = value
		*field(&w.spec.Association) = value
		return one.CheckAssociation()
	}
}

func surroundings() []Option {
	return []Option{
		{
			Long: "mail-type", Value: "type[,type]", set: setMailTypes, Slurm: true,
			Help: "when to send mail about the job: BEGIN, END, FAIL, REQUEUE, TIME_LIMIT, TIME_LIMIT_50, TIME_LIMIT_80, TIME_LIMIT_90, ALL (the first four) or NONE (default)",
			Note: "the site where the job is submitted sends the mail, if it is configured to",
		},
		{
			Long: "mail-user", Value: "user[,user]", Help: "addresses for the mail (default: the submitting user)",
			set: func(w *jobOptions, value string) error { w.mail.To = value; return protocol.CheckMailTo(value) }, Slurm: true,
		},
		{
			Long: "output", Short: "o", Value: "file",
			Help: "file of the standard output; %j job ID, %x name, %u user (default: switchyard-%j.out)",
			set:  path(func(w *jobOptions) *string { return &w.stdout }), Slurm: true, Vars: []string{"SBATCH_OUTPUT"},
			Note: "`switchyard-%j.out` by default; `%j` is `$SWITCHYARD_JOB_ID`, and `%N` the submit host",
		},
		{
			Long: "error", Short: "e", Value: "file", Help: "file of the standard error (default: that of the standard output)",
			set: path(func(w *jobOptions) *string { return &w.stderr }), Slurm: true, Vars: []string{"SBATCH_ERROR"},
		},
		{
			Long: "chdir", Short: "D", Value: "dir", Help: "working directory (default: the current directory)",
			set: path(func(w *jobOptions) *string { return &w.dir }), Slurm: true, Note: "at another site the job starts in an empty directory",
		},
		{
			Long: "export", Value: "list",
			Help: "environment variables of the job: ALL, NONE, NAME, NAME=value (default: ALL; for other sites see --export-remote)",
			set:  func(w *jobOptions, value string) error { w.export = value; return nil }, Slurm: true, Vars: []string{"SBATCH_EXPORT"},
			Note: "fewer variables are sent to other sites, see below",
		},
		{
			Long: "export-remote", Value: "list",
			Help: "environment variables that are also sent to other sites: ALL, NAME (default: those named by --export, and the list of the site)",
			set:  setExportRemote,
		},
		{
			Long: "input", Short: "i", Value: "file",
			Help: "file of the standard input; the job then runs at this site (default: no input)",
			set:  path(func(w *jobOptions) *string { return &w.stdin }), Slurm: true, Vars: []string{"SBATCH_INPUT"},
			Note: "the job runs at the site where it is submitted",
		},
		{
			Long: "open-mode", Value: "append|truncate", Help: "whether output goes behind what is in its file, or replaces it (default: truncate)",
			set: setOpenMode, Slurm: true, Vars: []string{"SBATCH_OPEN_MODE"},
			Note: "the output of a job that ran at another site is appended when the job has ended",
		},
		{
			Long: "signal", Value: "[R|B:]signal[@seconds]",
			Help: "signal sent before the time limit, 60 seconds unless a time is given: to the processes that the script has started, with B: to the script alone",
			set:  setSignal, Slurm: true, Vars: []string{"SBATCH_SIGNAL"},
			Note: "without `B:` the process scheduler signals all processes of the job but the script's own; `KILL` and `STOP` are refused; `R:` counts at sites with Slurm",
		},
		{
			Long: "container", Value: "image",
			Help: "container image in which the script runs, as the container command of each site takes it; sites without one are not chosen", set: setContainer,
			Slurm: true, Vars: []string{"SBATCH_CONTAINER"}, Note: "takes an image for the container command of the site, not the path of an OCI bundle",
		},
	}
}

// submission are the options about how a job is submitted.
func submission() []Option {
	return []Option{
		{
			Long: "array", Short: "a", Value: "indexes[%limit]",
			Help: "submit a job array with an element for each index, for example 0-99, 0-98:2 or 1,3,5-7; behind % the most elements that are placed or run at once",
			set:  setArray, Slurm: true, Vars: []string{"SBATCH_ARRAY_INX"},
			Note: "elements run at all sites; the limit holds over all of them, and counts elements that wait in the queue of a site",
		},
		{
			Long: "propagate", Value: "ALL|NONE|limit[,limit]", Maybe: true, Help: "soft limits of the shell that the job takes over: ALL (default), NONE, or some, as NOFILE,STACK",
			set: setPropagate, Slurm: true, Note: "at another site of these only `CORE`, `NOFILE` and `STACK`; never above the hard limits there",
		},
		{
			Long: "wrap", Value: "command", Help: "submit this command instead of a script", set: setWrap, Slurm: true,
			Note: "only on the command line",
		},
		{
			Long: "ignore", Value: "option[,option]", Help: "sbatch options to ignore that would be refused", set: setIgnore,
		},
		{
			Long: "ignore-pbs", Help: "ignore #PBS and #BSUB lines", set: setIgnorePBS, Slurm: true, Vars: []string{"SBATCH_IGNORE_PBS"},
			Note: "without it such lines are refused",
		},
		{
			Long: "quiet", Short: "Q", Help: "print only errors",
			set: func(w *jobOptions, _ string) error { w.quiet = true; return nil }, Slurm: true,
		},
		{
			Long: "wait", Short: "W", Help: "wait until the job has finished, and exit with its exit code",
			set: func(w *jobOptions, _ string) error { w.wait = true; return nil }, Slurm: true, Vars: []string{"SBATCH_WAIT"},
		},
		{
			Long: "parsable", Help: "print only the job ID",
			set: func(w *jobOptions, _ string) error { w.parsable = true; return nil }, Slurm: true,
		},
		{
			Long: "test-only", Help: "print the quote of each site without submitting",
			set: func(w *jobOptions, _ string) error { w.testOnly = true; return nil }, Slurm: true,
			Note: "prints the quote of each site",
		},
	}
}

// foreign are the options of sbatch(1) that are not carried, of Slurm 22.05 to 26.05. The
// reason for each is part of messages and of docs/cli.md.
func foreign() []Option { return slices.Concat(narrower(), conduct(), conveniences()) }

// narrower are refused because the job would have other resources, or less.
func narrower() []Option {
	const (
		devices  = "how GPUs and other devices are bound and set is not supported; srun in the script can do it"
		features = "constraints on clusters and on the first node are not supported"
		named    = "choosing nodes of a site is not supported"
		whole    = "specialized cores are not supported"
		cores    = "constraints on sockets, cores and threads are not supported"
		network  = "constraints on the network topology are not supported"
		placing  = "placement, binding and frequency of tasks are not supported; srun in the script can set them"
		storage  = "disk space and burst buffers are not supported"
		bundles  = "OCI bundles of a running container are not supported; --container takes an image"
		memory   = "memory limits are configured by each site"
	)
	return slices.Concat(
		refused(devices, "",
			row{"gpu-bind", "type", "SBATCH_GPU_BIND"}, row{"gpu-freq", "value", "SBATCH_GPU_FREQ"},
			row{"gres-flags", "type", "SBATCH_GRES_FLAGS"}, row{"tres-bind", "list", "SBATCH_TRES_BIND"}),
		refused("it is not supported", "use --gpus-per-node or --gpus-per-task",
			row{"gpus-per-socket", "count", "SBATCH_GPUS_PER_SOCKET"}, row{"ntasks-per-gpu", "count", ""},
			row{"tres-per-task", "list", "SBATCH_TRES_PER_TASK"}),
		refused(features, "",
			row{"batch", "list", "SBATCH_BATCH"}, row{"cluster-constraint", "list", "SBATCH_CLUSTER_CONSTRAINT"},
			row{"extra", "text", ""}),
		refused(named, "",
			row{"exclude/x", "nodes", ""}, row{"nodefile/F", "file", ""}, row{"nodelist/w", "nodes", ""},
			row{"reservation", "name", "SBATCH_RESERVATION"}),
		refused("it selects clusters of one Slurm installation", "use --sites, or add --ignore=clusters",
			row{"clusters/M", "names", "SBATCH_CLUSTERS SLURM_CLUSTERS"}),
		refused(whole, "",
			row{"core-spec/S", "count", "SBATCH_CORE_SPEC"}, row{"thread-spec", "count", "SBATCH_THREAD_SPEC"}),
		refused(cores, "",
			row{"cores-per-socket", "count", ""}, row{"extra-node-info/B", "counts", ""}, row{"hint", "type", "SBATCH_HINT SLURM_HINT"},
			row{"mincpus", "count", ""}, row{"ntasks-per-core", "count", ""}, row{"ntasks-per-socket", "count", ""},
			row{"sockets-per-node", "count", ""}, row{"threads-per-core", "count", "SBATCH_THREADS_PER_CORE"}),
		refused(network, "",
			row{"consolidate-segments", "", "SBATCH_CONSOLIDATE_SEGMENTS"}, row{"contiguous", "", ""},
			row{"network", "type", "SBATCH_NETWORK"}, row{"resources", "list", ""}, row{"resv-ports", "[count]", ""},
			row{"segment", "count", "SBATCH_SEGMENT_SIZE"}, row{"spread-job", "", "SBATCH_SPREAD_JOB"},
			row{"spread-segments", "", "SBATCH_SPREAD_SEGMENTS"},
			row{"switches", "count", "SBATCH_REQ_SWITCH SBATCH_WAIT4SWITCH"}),
		refused(placing, "",
			row{"cpu-freq", "value", "SBATCH_CPU_FREQ_REQ"}, row{"distribution/m", "type", "SBATCH_DISTRIBUTION"},
			row{"mem-bind", "type", "SBATCH_MEM_BIND"}, row{"overcommit/O", "", "SBATCH_OVERCOMMIT"}),
		refused(storage, "", row{"bb", "text", "SBATCH_BURST_BUFFER"}, row{"bbf", "file", ""}, row{"tmp", "size", ""}),
		refused(bundles, "", row{"container-id", "name", "SBATCH_CONTAINER_ID"},
			row{"container-type", "type", "SBATCH_CONTAINER_TYPE"}),
		refused(memory, "", row{"mem-update", "margin@delay", ""}, row{"oom-kill-step", "[0|1]", ""}),
	)
}

// conduct is refused because the job would begin, run or end in another way.
func conduct() []Option {
	return slices.Concat(
		refused("--export-file is not supported", "name the variables with --export", row{"export-file", "file", ""}),
		refused("--get-user-env is not supported", "begin the script with #!/bin/bash -l, or add --ignore=get-user-env", row{"get-user-env", "[timeout]", "SBATCH_GET_USER_ENV"}),
		refused("a job runs as the user who submits it", "submit it as that user", row{"gid", "group", ""}, row{"uid", "user", ""}),
		refused("MCS labels are not supported", "", row{"mcs-label", "label", ""}),
		refused("a job ends if one of its nodes fails", "", row{"no-kill/k", "[off]", "SBATCH_NO_KILL"}),
		refused("jobs cannot change the power or state of nodes", "",
			row{"power", "flags", "SBATCH_POWER"}, row{"reboot", "", ""}, row{"wait-all-nodes", "0|1", "SBATCH_WAIT_ALL_NODES"}),
		refused("external jobs are not supported", "", row{"external", "", ""}),
		refused("it does not submit a job", "see switchyard submit --help", row{"usage", "", ""}),
		refused("it does not submit a job", "see switchyard version", row{"version/V", "", ""}),
	)
}

// conveniences are left out: the job is the same without them.
func conveniences() []Option {
	const (
		measured = "accounting is configured by each site"
		choice   = "it is a preference that sites do not support"
	)
	return slices.Concat(
		noticed("keys are not mapped; each site uses its default", row{"wckey", "key", "SBATCH_WCKEY"}),
		noticed(measured, row{"acctg-freq", "list", "SBATCH_ACCTG_FREQ"}, row{"profile", "list", "SBATCH_PROFILE"}),
		noticed(choice, row{"delay-boot", "minutes", "SBATCH_DELAY_BOOT"}, row{"prefer", "list", ""},
			row{"use-min-nodes", "", "SBATCH_USE_MIN_NODES"}),
		noticed("jobs never share CPUs", row{"oversubscribe/s", "", ""}),
		noticed("step management is configured by each site", row{"stepmgr", "", ""}),
		noticed("use --json or explain for details", row{"verbose/v", "", "SBATCH_DEBUG"}),
	)
}

// row is an option as "long" or "long/s", its value, in brackets if it may be left out, and
// the variables that stand for it.
type row struct{ name, value, vars string }

func refused(why, do string, rows ...row) []Option { return foreignOf(verdict{Refused, why, do}, rows) }

func noticed(why string, rows ...row) []Option {
	return foreignOf(verdict{Fate: Noticed, why: why}, rows)
}

func foreignOf(v verdict, rows []row) []Option {
	options := make([]Option, len(rows))
	for i, r := range rows {
		long, short, _ := strings.Cut(r.name, "/")
		value, maybe := strings.CutPrefix(r.value, "[")
		options[i] = Option{
			Long: long, Short: short, Value: strings.TrimSuffix(value, "]"), Maybe: maybe,
			Vars: strings.Fields(r.vars), Slurm: true, verdict: v, inSlurm: v,
		}
	}
	return options
}

// catalog finds options by their names.
type catalog struct {
	all   []Option
	long  map[string]Option
	short map[string]Option
}

func newCatalog() catalog {
	c := catalog{all: Options(), long: map[string]Option{}, short: map[string]Option{}}
	for _, option := range c.all {
		c.long[option.Long] = option
		if option.Also != "" {
			c.long[option.Also] = option
		}
		if option.Short != "" {
			c.short[option.Short] = option
		}
	}
	return c
}

// hint suggests an option for an unknown one.
func (c catalog) hint(long string) string {
	if now := oldnames.Directive(long); now != "" {
		return "it was renamed to --" + now
	}
	best, bestLen := "", 2
	for name := range c.long {
		same := commonPrefix(name, long)
		if same > bestLen || same == bestLen && best != "" && name < best {
			best, bestLen = name, same
		}
	}
	if best == "" {
		return "see switchyard submit --help for the options"
	}
	return fmt.Sprintf("did you mean --%s?", best)
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
