package batchscript

import (
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Option is an option of a directive or of the command line.
type Option struct {
	Long  string // without the hyphens
	Short string // one letter; empty: none
	Value string // the value's name for people; empty: it takes none
	Maybe bool   // the value may be left out, and is only given as --long=value
	Help  string // empty: one of sbatch's that is not carried

	Also  string   // another long name, which people are not told of
	Vars  []string // variables of the environment that stand for it, as sbatch has them
	Slurm bool     // sbatch(1) has it
	Note  string   // how a carried option of sbatch differs; empty: it does not

	set     func(w *wishes, value string) error
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
	return slices.Concat(shape(), broker(), behaviour(), surroundings())
}

func shape() []Option {
	return []Option{
		{
			Long: "job-name", Short: "J", Value: "name", Help: "the job's name (the script's)", set: setName,
			Slurm: true, Vars: []string{"SBATCH_JOB_NAME"},
		},
		{
			Long: "comment", Value: "text", Help: "a remark for people, shown with the job (none)",
			set: func(w *wishes, value string) error { w.spec.Comment = value; return protocol.CheckComment(value) }, Slurm: true,
			Note: "at a site with Slurm its comment begins with it, and says behind it which job of Switchyard it is",
		},
		{
			Long: "ntasks", Short: "n", Value: "count", Help: "tasks in all (1, or nodes × ntasks-per-node)",
			set: counter(func(w *wishes) *int { return &w.tasks }), Slurm: true,
		},
		{
			Long: "nodes", Short: "N", Value: "count|min-max", Help: "nodes (any)", set: setNodes,
			Slurm: true, Note: "of a range without `--ntasks`, the least number, with a task on each",
		},
		{
			Long: "ntasks-per-node", Value: "count", Help: "tasks on each node",
			set: counter(func(w *wishes) *int { return &w.tasksPerNode }), Slurm: true, Also: "tasks-per-node",
		},
		{
			Long: "cpus-per-task", Short: "c", Value: "count", Help: "CPUs of each task (1)",
			set: counter(func(w *wishes) *int { return &w.cpusPerTask }), Slurm: true,
		},
		{
			Long: "mem", Value: "size[K|M|G|T]", Help: "memory on each node, in MB without a letter (any)", set: setMemory,
			Slurm: true, Vars: []string{"SBATCH_MEM_PER_NODE"}, partly: true,
			Note: "`0`, all memory of the nodes, is refused: a job cannot ask for that yet",
		},
		{
			Long: "mem-per-cpu", Value: "size[K|M|G|T]", Help: "memory for each CPU", set: setMemoryPerCPU,
			Slurm: true, Vars: []string{"SBATCH_MEM_PER_CPU"}, Note: "as memory on each node, for all CPUs that a node may have of the job",
		},
		{
			Long: "cpus", Value: "count[,count]", Help: "CPUs in all, however many tasks; of several counts the grid chooses one",
			set: setCPUs,
		},
		{
			Long: "time", Short: "t", Value: "limit[,limit]",
			Help: "wall-time limit: min, min:s, h:min:s, d-h, d-h:min, d-h:min:s, or as 1h30m (1:00:00); one, or one for each count of --cpus",
			set:  times(func(w *wishes) *[]protocol.Duration { return &w.limits }), Slurm: true, Vars: []string{"SBATCH_TIMELIMIT"},
			Note: "a job without it has one hour; a time without end is refused",
		},
		{Long: "sites", Value: "site[,site]", Help: "sites where the job may run (anywhere)", set: setSites},
		{Long: "power-share", Value: "percent%", Help: "power that the job draws, of what sites state for busy CPUs (100%)", set: setPowerShare},
		{
			Long: "data", Value: "size[K|M|G|T]", Help: "data that must travel when the job runs elsewhere, in MB without a letter; 0: it needs no files but its script (not known)",
			set: setData(func(w *wishes) *int64 { return &w.spec.Data }),
		},
		{
			Long: "data-out", Value: "size[K|M|G|T]", Help: "data that must travel back then (0)",
			set: setData(func(w *wishes) *int64 { return &w.spec.DataOut }),
		},
		{
			Long: "requeue", Help: "run the job again elsewhere when its site is lost",
			set: func(w *wishes, _ string) error { w.spec.Requeue = true; return nil }, Slurm: true, Vars: []string{"SBATCH_REQUEUE"},
			Note: "it may run again elsewhere when its site is lost; a site never runs it twice by itself",
		},
		{
			Long: "no-requeue", Help: "run the job at most once (the default)",
			set: func(w *wishes, _ string) error { w.spec.Requeue = false; return nil }, Slurm: true, Vars: []string{"SBATCH_NO_REQUEUE"},
			Note: "the default",
		},
	}
}

func surroundings() []Option {
	return []Option{
		{
			Long: "output", Short: "o", Value: "file",
			Help: "file of the standard output; %j id, %x name, %u user (switchyard-%j.out)",
			set:  path(func(w *wishes) *string { return &w.stdout }), Slurm: true, Vars: []string{"SBATCH_OUTPUT"},
			Note: "`switchyard-%j.out` by default; of the patterns, `%j` is `$SWITCHYARD_JOB_ID`, and `%N` the host where it was submitted",
		},
		{
			Long: "error", Short: "e", Value: "file", Help: "file of the standard error (the same)",
			set: path(func(w *wishes) *string { return &w.stderr }), Slurm: true, Vars: []string{"SBATCH_ERROR"},
		},
		{
			Long: "chdir", Short: "D", Value: "folder", Help: "working directory (where the job is submitted)",
			set: path(func(w *wishes) *string { return &w.dir }), Slurm: true, Note: "at another site the job begins in an empty folder",
		},
		{
			Long: "export", Value: "list",
			Help: "variables to hand over: ALL, NONE, NAME, NAME=value (ALL; to other sites --export-remote)",
			set:  func(w *wishes, value string) error { w.export = value; return nil }, Slurm: true, Vars: []string{"SBATCH_EXPORT"},
			Note: "to another site less leaves, see below",
		},
		{
			Long: "export-remote", Value: "list",
			Help: "of these, variables that other sites may see, too: ALL, NAME (what --export names, and the site's list)",
			set:  setExportRemote,
		},
		{
			Long: "open-mode", Value: "truncate", Help: "how output begins: with an empty file",
			set: setOpenMode, Slurm: true, Vars: []string{"SBATCH_OPEN_MODE"}, partly: true, Note: "`append` is refused",
		},
		{
			Long: "propagate", Value: "NONE", Maybe: true, Help: "limits of the shell that the job gets",
			set: setPropagate, Slurm: true, partly: true, Note: "`NONE`, which is the default here; others are refused, set them in the script with `ulimit`",
		},
		{
			Long: "wrap", Value: "command", Help: "a script of this command, instead of a file", set: setWrap, Slurm: true,
			Note: "on the command line",
		},
		{
			Long: "ignore", Value: "option[,option]", Help: "options of sbatch to do without, of those that are refused", set: setIgnore,
		},
		{
			Long: "ignore-pbs", Help: "pass over lines of #PBS and #BSUB", set: setIgnorePBS, Slurm: true, Vars: []string{"SBATCH_IGNORE_PBS"},
			Note: "without it such lines, which sbatch would follow, are refused",
		},
		{
			Long: "quiet", Short: "Q", Help: "say nothing that is not an error",
			set: func(w *wishes, _ string) error { w.quiet = true; return nil }, Slurm: true,
		},
		{
			Long: "wait", Short: "W", Help: "wait for the job's end and exit as it did",
			set: func(w *wishes, _ string) error { w.wait = true; return nil }, Slurm: true, Vars: []string{"SBATCH_WAIT"},
		},
		{
			Long: "parsable", Help: "print the job's id alone",
			set: func(w *wishes, _ string) error { w.parsable = true; return nil }, Slurm: true,
		},
		{
			Long: "test-only", Help: "print what each site quotes, submit nothing",
			set: func(w *wishes, _ string) error { w.testOnly = true; return nil }, Slurm: true,
			Note: "it prints every site's quote",
		},
	}
}

// foreign are the options of sbatch(1) that are not carried, of Slurm 22.05 to 26.05. The
// reason for each is told to people, and in docs/cli.md.
func foreign() []Option { return slices.Concat(resources(), conduct(), conveniences()) }

// resources are refused because the job would have others, or less.
func resources() []Option {
	const (
		devices  = "a job cannot ask for GPUs and other devices yet, and would run without"
		features = "a job cannot ask for features of nodes yet, and would run on any"
		named    = "a job cannot choose among the nodes of a site yet, and would run on any"
		whole    = "a job cannot ask for whole nodes or spare cores yet, and would share its nodes where a site lets jobs share"
		cores    = "a job asks for CPUs, and cannot say yet of which sockets, cores and threads"
		network  = "a job cannot say yet how its nodes lie in the network"
		placing  = "a job cannot say yet how its tasks are placed, bound and clocked, but srun in its script can"
		storage  = "a job cannot ask for disk or burst buffers yet"
		boxes    = "Slurm starts no containers for jobs of a grid, but their scripts can"
		memory   = "how memory is limited is each site's own"
	)
	return slices.Concat(
		refused(devices, "",
			row{"cpus-per-gpu", "count", "SBATCH_CPUS_PER_GPU"}, row{"gpu-bind", "type", "SBATCH_GPU_BIND"},
			row{"gpu-freq", "value", "SBATCH_GPU_FREQ"}, row{"gpus/G", "count", "SBATCH_GPUS"},
			row{"gpus-per-node", "count", "SBATCH_GPUS_PER_NODE"}, row{"gpus-per-socket", "count", "SBATCH_GPUS_PER_SOCKET"},
			row{"gpus-per-task", "count", "SBATCH_GPUS_PER_TASK"}, row{"gres", "list", "SBATCH_GRES"},
			row{"gres-flags", "type", "SBATCH_GRES_FLAGS"}, row{"mem-per-gpu", "size", "SBATCH_MEM_PER_GPU"},
			row{"ntasks-per-gpu", "count", ""}, row{"tres-bind", "list", "SBATCH_TRES_BIND"},
			row{"tres-per-task", "list", "SBATCH_TRES_PER_TASK"}),
		refused(features, "",
			row{"batch", "list", "SBATCH_BATCH"}, row{"cluster-constraint", "list", "SBATCH_CLUSTER_CONSTRAINT"},
			row{"constraint/C", "list", "SBATCH_CONSTRAINT"}, row{"extra", "text", ""}),
		refused(named, "",
			row{"exclude/x", "nodes", ""}, row{"nodefile/F", "file", ""}, row{"nodelist/w", "nodes", ""},
			row{"reservation", "name", "SBATCH_RESERVATION"}),
		refused("it names clusters of one Slurm", "name sites with --sites, or add --ignore=clusters",
			row{"clusters/M", "names", "SBATCH_CLUSTERS SLURM_CLUSTERS"}),
		refused(whole, "",
			row{"core-spec/S", "count", "SBATCH_CORE_SPEC"}, row{"exclusive", "[who]", "SBATCH_EXCLUSIVE"},
			row{"thread-spec", "count", "SBATCH_THREAD_SPEC"}),
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
		refused(boxes, "",
			row{"container", "path", "SBATCH_CONTAINER"}, row{"container-id", "name", "SBATCH_CONTAINER_ID"},
			row{"container-type", "type", "SBATCH_CONTAINER_TYPE"}),
		refused(memory, "", row{"mem-update", "margin@delay", ""}, row{"oom-kill-step", "[0|1]", ""}),
	)
}

// conduct is refused because the job would begin, run or end in another way.
func conduct() []Option {
	return slices.Concat(
		refused("job arrays are not there yet", "submit one job for each element", row{"array/a", "indexes", "SBATCH_ARRAY_INX"}),
		refused("a later start is not there yet", "submit the job at that time, for instance with at(1)", row{"begin/b", "time", ""}),
		refused("the job would not be taken out at that time", "", row{"deadline", "time", ""}),
		refused("dependencies are not there yet", "submit the job when the others have ended", row{"dependency/d", "jobs", ""}),
		refused("holding jobs is not there yet", "submit the job when it may start", row{"hold/H", "", ""}),
		refused("no signal is sent before the end", "", row{"signal", "signal@time", "SBATCH_SIGNAL"}),
		refused("a job has nothing on its standard input", "redirect it in the script: command <file", row{"input/i", "file", "SBATCH_INPUT"}),
		refused("variables are not read from files", "name them with --export", row{"export-file", "file", ""}),
		refused("no login's environment is made", "begin the script with #!/bin/bash -l, or add --ignore=get-user-env", row{"get-user-env", "[timeout]", "SBATCH_GET_USER_ENV"}),
		refused("a job runs as who submits it", "submit it as that user", row{"gid", "group", ""}, row{"uid", "user", ""}),
		refused("labels of security are not there yet", "", row{"mcs-label", "label", ""}),
		refused("a job ends when it loses a node", "", row{"no-kill/k", "[off]", "SBATCH_NO_KILL"}),
		refused("jobs do not change the power or the state of nodes", "",
			row{"power", "flags", "SBATCH_POWER"}, row{"reboot", "", ""}, row{"wait-all-nodes", "0|1", "SBATCH_WAIT_ALL_NODES"}),
		refused("such jobs run outside every batch system", "", row{"external", "", ""}),
		refused("it submits nothing", "see switchyard submit --help", row{"usage", "", ""}),
		refused("it submits nothing", "see switchyard version", row{"version/V", "", ""}),
	)
}

// conveniences are left out: the job is the same without them.
func conveniences() []Option {
	const (
		mail     = "Switchyard sends no mail; submit --wait waits for the job's end"
		order    = "each site orders its queue by its own rules"
		charged  = "a job is charged to no account or key yet; each site takes its own default"
		measured = "each site measures jobs in its own way"
		choice   = "it is a preference, and each site has its own"
	)
	return slices.Concat(
		noticed(charged, row{"account/A", "name", "SBATCH_ACCOUNT"}, row{"wckey", "key", "SBATCH_WCKEY"}),
		noticed("the grid chooses a site, and the site its partition", row{"partition/p", "name", "SBATCH_PARTITION"}),
		noticed(measured, row{"acctg-freq", "list", "SBATCH_ACCTG_FREQ"}, row{"profile", "list", "SBATCH_PROFILE"}),
		noticed("there are no dependencies yet", row{"kill-on-invalid-dep", "yes|no", ""}),
		noticed(mail, row{"mail-type", "types", ""}, row{"mail-user", "user", ""}),
		noticed(order, row{"nice", "[value]", ""}, row{"priority", "value", ""}),
		noticed(choice, row{"delay-boot", "minutes", "SBATCH_DELAY_BOOT"}, row{"prefer", "list", ""},
			row{"use-min-nodes", "", "SBATCH_USE_MIN_NODES"}),
		noticed("a job has its CPUs to itself", row{"oversubscribe/s", "", ""}),
		noticed("Slurm manages steps as the site has it", row{"stepmgr", "", ""}),
		noticed("the whole time limit is asked for", row{"time-min", "time", ""}),
		noticed("--json and explain tell more", row{"verbose/v", "", "SBATCH_DEBUG"}),
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

// hint names an option that the writer may have meant.
func (c catalog) hint(long string) string {
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
