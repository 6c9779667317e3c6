package batchscript

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Fate is what becomes of an option of sbatch(1).
type Fate int

// The fates.
const (
	Carried Fate = iota // it does what it does for sbatch
	Noticed             // it is a convenience, and left out with a notice
	Refused             // without it the job would be another one, so that it is not submitted
)

func (f Fate) String() string { return [...]string{"carried", "notice", "refused"}[f] }

// verdict is what becomes of an option in some place, and why it is not carried.
type verdict struct {
	Fate Fate
	why  string
	do   string // instead of a refused option; empty: to do without
}

// refusalError says that an option cannot be carried with this value.
type refusalError verdict

func (e *refusalError) Error() string { return e.why }

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
		noticed("jobs have names, and no comments", row{"comment", "text", ""}),
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

// refusal is an option that was said and is refused, unless it is to be left out.
type refusal struct {
	long string // or "#PBS"
	at   spot
	text string
}

// refuse keeps a refusal until all is read. Of one option the last counts.
func (w *wishes) refuse(long string, at spot, v verdict) {
	do := v.do
	if do == "" {
		do = "if it does as well without, leave it out or add --ignore=" + long
	}
	w.allow(long)
	w.refused = append(w.refused, refusal{long, at, v.why + "; " + do})
}

// allow forgets a refusal: the option was said again, as it can be carried.
func (w *wishes) allow(long string) {
	w.refused = slices.DeleteFunc(w.refused, func(one refusal) bool { return one.long == long })
}

// judge reports what is refused, and notices what is left out by the user's wish.
func (w *wishes) judge(r *report) {
	for _, one := range w.refused {
		switch {
		case !w.ignored[one.long]:
			r.wrongAt(one.at, one.long, "%s", one.text)
		case !one.at.named:
			r.notice(one.at.place, "--%s is left out, as --ignore says", one.long)
		}
	}
}

// setIgnore takes the names of options that the job does without.
func setIgnore(w *wishes, value string) error {
	known := map[string]Option{}
	for _, option := range Options() {
		known[option.Long] = option
	}
	var names []string
	for name := range strings.SplitSeq(value, ",") {
		name = strings.TrimPrefix(strings.TrimSpace(name), "--")
		option, ok := known[name]
		switch {
		case !ok:
			return fmt.Errorf("%q is no option; name options of sbatch by their long names, with commas between them", name)
		case option.verdict.Fate != Refused && option.inSlurm.Fate != Refused && !option.partly:
			return fmt.Errorf("--%s is not refused; leave it out where it stands", name)
		}
		names = append(names, name)
	}
	w.ignore(names...)
	return nil
}

// setIgnorePBS leaves lines for other batch systems out.
func setIgnorePBS(w *wishes, _ string) error {
	w.ignore(pbsMark)
	return nil
}

// ignore has the job do without what is refused.
func (w *wishes) ignore(names ...string) {
	if w.ignored == nil {
		w.ignored = map[string]bool{}
	}
	for _, name := range names {
		w.ignored[name] = true
	}
}

// pbsMark stands for lines of #PBS and #BSUB, which sbatch reads, too.
const pbsMark = "#PBS"

// setOpenMode takes what is done: output begins with an empty file.
func setOpenMode(_ *wishes, value string) error {
	switch value {
	case "truncate", "t":
		return nil
	case "append", "a":
		return &refusalError{why: "the output begins with an empty file", do: "name a file for each job, for instance with %j"}
	}
	return fmt.Errorf("%q is unknown; use truncate", value)
}

// setPropagate takes what is done: limits stay where they are.
func setPropagate(_ *wishes, value string) error {
	if strings.EqualFold(value, "NONE") {
		return nil
	}
	return &refusalError{why: "limits of the shell are not handed on", do: "set them in the script with ulimit"}
}

// setWrap takes the command that the script was made of; see [Wrap].
func setWrap(w *wishes, value string) error {
	switch {
	case w.source != fromCommandLine:
		return errors.New("it belongs to the command line; a script has its commands below")
	case strings.TrimSpace(value) == "":
		return errors.New("the command is empty")
	}
	return nil
}

// Wrap makes a script of a command for sh(1), as the option --wrap does.
func Wrap(command string) Script {
	return Script{Name: "wrap", Wrapped: true, Data: []byte("#!/bin/sh\n# Made by switchyard submit --wrap.\n\n" + command + "\n")}
}

// variables are the directives that stand in variables of the environment, in the order of
// the options. A flag stands there as nothing, yes or a number but 0.
func (c catalog) variables(env []string) (out []directive) {
	set := variables(env)
	for _, option := range c.all {
		for _, name := range option.Vars {
			value, ok := set[name]
			word := "--" + option.Long
			switch {
			case !ok:
				continue
			case option.Value == "" && !raised(value), option.Value != "" && !option.Maybe && value == "":
				continue
			case option.Value != "" && value != "":
				word += "=" + value
			}
			out = append(out, directive{place: "variable " + name, words: []string{word}, slurm: true})
		}
	}
	return out
}

// raised says whether a variable's value sets a flag.
func raised(value string) bool {
	digits := strings.TrimLeft(value, "0")
	number := digits != "" && strings.Trim(digits, "0123456789") == ""
	return value == "" || strings.EqualFold(value, "yes") || number
}
