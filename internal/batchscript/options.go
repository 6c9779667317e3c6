package batchscript

import (
	"fmt"
	"slices"

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
