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
	Help  string // empty: one of sbatch's that means nothing here

	set     func(w *wishes, value string) error
	refused string // why it cannot be used at all
	whole   bool   // it is about the whole application, not one component
	local   bool   // in #SBATCH it means something of one cluster, which partners do not know
}

// Options lists every option that is known, those of sbatch that are ignored or
// refused included.
func Options() []Option {
	return append(honoured(), foreign()...)
}

func honoured() []Option {
	return slices.Concat(shape(), broker(), behaviour(), surroundings())
}

func shape() []Option {
	return []Option{
		{Long: "job-name", Short: "J", Value: "name", Help: "the job's name (the script's)", set: setName},
		{
			Long: "ntasks", Short: "n", Value: "count", Help: "tasks in all (1, or nodes × ntasks-per-node)",
			set: counter(func(w *wishes) *int { return &w.tasks }),
		},
		{Long: "nodes", Short: "N", Value: "min[-max]", Help: "nodes; the least number counts (any)", set: setNodes},
		{
			Long: "ntasks-per-node", Value: "count", Help: "tasks on each node",
			set: counter(func(w *wishes) *int { return &w.tasksPerNode }),
		},
		{
			Long: "cpus-per-task", Short: "c", Value: "count", Help: "CPUs of each task (1)",
			set: counter(func(w *wishes) *int { return &w.cpusPerTask }),
		},
		{Long: "mem", Value: "size[K|M|G|T]", Help: "memory on each node, in MB without a letter (any)", set: setMemory},
		{Long: "mem-per-cpu", Value: "size[K|M|G|T]", Help: "memory for each CPU", set: setMemoryPerCPU},
		{
			Long: "cpus", Value: "count[,count]", Help: "CPUs in all, however many tasks; of several counts the grid chooses one",
			set: setCPUs,
		},
		{
			Long: "time", Short: "t", Value: "limit[,limit]",
			Help: "wall-time limit: min, min:s, h:min:s, d-h, d-h:min, d-h:min:s, or as 1h30m (1:00:00); one, or one for each count of --cpus",
			set:  times(func(w *wishes) *[]protocol.Duration { return &w.limits }),
		},
		{Long: "sites", Value: "site[,site]", Help: "sites where the job may run (anywhere)", set: setSites},
		{Long: "power-share", Value: "percent%", Help: "power that the job draws, of what sites state for busy CPUs (100%)", set: setPowerShare},
		{
			Long: "data", Value: "size[K|M|G|T]", Help: "data that must travel when the job runs elsewhere, in MB without a letter (0)",
			set: setData(func(w *wishes) *int64 { return &w.data }),
		},
		{
			Long: "data-out", Value: "size[K|M|G|T]", Help: "data that must travel back then (0)",
			set: setData(func(w *wishes) *int64 { return &w.dataOut }),
		},
		{
			Long: "requeue", Help: "run the job again elsewhere when its site is lost",
			set: func(w *wishes, _ string) error { w.requeue = true; return nil },
		},
		{
			Long: "no-requeue", Help: "run the job at most once (the default)",
			set: func(w *wishes, _ string) error { w.requeue = false; return nil },
		},
	}
}

func surroundings() []Option {
	return []Option{
		{
			Long: "output", Short: "o", Value: "file",
			Help: "file of the standard output; %j id, %x name, %u user (switchyard-%j.out)",
			set:  path(func(w *wishes) *string { return &w.stdout }),
		},
		{
			Long: "error", Short: "e", Value: "file", Help: "file of the standard error (the same)",
			set: path(func(w *wishes) *string { return &w.stderr }),
		},
		{
			Long: "chdir", Short: "D", Value: "folder", Help: "working directory (where the job is submitted)",
			set: path(func(w *wishes) *string { return &w.dir }),
		},
		{
			Long: "export", Value: "list",
			Help: "variables to hand over: ALL, NONE, NAME, NAME=value (ALL; to other sites --export-remote)",
			set:  func(w *wishes, value string) error { w.export = value; return nil },
		},
		{
			Long: "export-remote", Value: "list",
			Help: "of these, variables that other sites may see, too: ALL, NAME (what --export names, and the site's list)",
			set:  setExportRemote,
		},
		{
			Long: "partition", Short: "p", Value: "name", Help: "accepted and ignored: the grid chooses by size",
			set: func(*wishes, string) error { return errIgnored },
		},
		{
			Long: "wait", Short: "W", Help: "wait for the job's end and exit as it did",
			set: func(w *wishes, _ string) error { w.wait = true; return nil },
		},
		{
			Long: "parsable", Help: "print the job's id alone",
			set: func(w *wishes, _ string) error { w.parsable = true; return nil },
		},
		{
			Long: "test-only", Help: "print what each site quotes, submit nothing",
			set: func(w *wishes, _ string) error { w.testOnly = true; return nil },
		},
	}
}

// catalog finds options by their names.
type catalog struct {
	long  map[string]Option
	short map[string]Option
}

func newCatalog() catalog {
	c := catalog{long: map[string]Option{}, short: map[string]Option{}}
	for _, option := range Options() {
		c.long[option.Long] = option
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

// foreign are options of sbatch that have no meaning on a grid, or none yet.
func foreign() []Option {
	options := []Option{
		refuse("array", "a", "job arrays are not there yet; submit one job for each element"),
		refuse("dependency", "d", "dependencies are not there yet; submit the job when the others have ended"),
		refuse("begin", "b", "a later start is not there yet; submit the job at that time, for instance with at(1)"),
		refuse("wrap", "", "give a script instead: printf '#!/bin/sh\\ncommand\\n' | switchyard submit"),
		{Long: "hold", Short: "H", refused: "holding jobs is not there yet; submit the job when it may start"},
	}
	for name := range strings.FieldsSeq(valued) {
		options = append(options, ignored(name, "value", false))
	}
	for name := range strings.FieldsSeq(maybeValued) {
		options = append(options, ignored(name, "value", true))
	}
	for name := range strings.FieldsSeq(bare) {
		options = append(options, ignored(name, "", false))
	}
	return options
}

func refuse(long, short, why string) Option {
	return Option{Long: long, Short: short, Value: "value", refused: why}
}

func ignored(name, value string, maybe bool) Option {
	long, short, _ := strings.Cut(name, "/")
	return Option{
		Long: long, Short: short, Value: value, Maybe: maybe,
		set: func(*wishes, string) error { return errIgnored },
	}
}

// The options of sbatch(1) that are ignored, by whether they take a value.
const (
	valued = `account/A acctg-freq batch bb bbf cluster-constraint clusters/M comment constraint/C container
		container-id core-spec/S cores-per-socket cpu-freq cpus-per-gpu deadline delay-boot distribution/m
		exclude/x export-file extra extra-node-info/B gid gpu-bind gpu-freq gpus/G gpus-per-node
		gpus-per-socket gpus-per-task gres gres-flags hint input/i kill-on-invalid-dep mail-type
		mail-user mcs-label mem-bind mem-per-gpu mincpus network nodefile/F nodelist/w ntasks-per-core
		ntasks-per-gpu ntasks-per-socket open-mode power prefer priority profile reservation segment
		signal sockets-per-node switches thread-spec threads-per-core time-min tmp tres-bind tres-per-task
		uid wait-all-nodes wckey`
	maybeValued = `exclusive get-user-env nice no-kill/k propagate resv-ports`
	bare        = `contiguous ignore-pbs overcommit/O oversubscribe/s quiet/Q reboot spread-job stepmgr
		use-min-nodes verbose/v`
)
