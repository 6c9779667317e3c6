package batchscript_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/protocol"
)

var update = flag.Bool("update", false, "write the table of sbatch's options into docs/cli.md")

const (
	manual     = "../../docs/cli.md"
	tableBegin = "<!-- The options of sbatch: made by go test ./internal/batchscript -update -->\n"
	tableEnd   = "<!-- The end of the options of sbatch. -->\n"
)

// TestTheTableOfSbatchIsTheList: docs/cli.md tells of each option of sbatch what becomes of it.
func TestTheTableOfSbatchIsTheList(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begun := strings.Cut(string(data), tableBegin)
	table, after, ended := strings.Cut(rest, tableEnd)
	if !begun || !ended {
		t.Fatalf("%s has no table between %q and %q", manual, tableBegin, tableEnd)
	}
	want := sbatchTable()
	if table == want {
		return
	}
	if !*update {
		t.Fatalf("the table in %s is not that of the list; see go test ./internal/batchscript -update", manual)
	}
	if err = os.WriteFile(manual, []byte(before+tableBegin+want+tableEnd+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

func sbatchTable() string {
	options := slices.DeleteFunc(batchscript.Options(), func(o batchscript.Option) bool { return !o.Slurm })
	slices.SortFunc(options, func(a, b batchscript.Option) int { return strings.Compare(a.Long, b.Long) })
	var out strings.Builder
	out.WriteString("| option of sbatch | variable | becomes | remark |\n|---|---|---|---|\n")
	for _, o := range options {
		name := "`--" + o.Long + "`"
		if o.Short != "" {
			name += ", `-" + o.Short + "`"
		}
		if o.Also != "" {
			name += ", `--" + o.Also + "`"
		}
		vars := make([]string, len(o.Vars))
		for i, v := range o.Vars {
			vars[i] = "`" + v + "`"
		}
		fate, why, inSlurm, whyInSlurm := o.Becomes()
		becomes, remark := fate.String(), why
		switch {
		case fate == batchscript.Carried && inSlurm != batchscript.Carried:
			becomes += "; in `#SBATCH` " + inSlurm.String()
			remark = whyInSlurm
		case fate == batchscript.Carried:
			remark = o.Note
		}
		fmt.Fprintf(&out, "| %s | %s | %s | %s |\n", name, strings.Join(vars, ", "), becomes, remark)
	}
	return out.String()
}

// TestEveryOptionOfSbatchIsKnown: as the manuals of Slurm 22.05 to 26.05 have them, with their
// letters, their values and their variables.
func TestEveryOptionOfSbatchIsKnown(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/sbatch.txt")
	if err != nil {
		t.Fatal(err)
	}
	known, vars := map[string]batchscript.Option{}, map[string]string{}
	unseen := map[string]bool{}
	for _, o := range batchscript.Options() {
		known[o.Long], known[o.Also] = o, o
		for _, v := range o.Vars {
			vars[v] = o.Long
		}
		if o.Slurm {
			unseen[o.Long] = true
		}
	}
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(line)
		switch f[0] {
		case "option":
			o, ok := known[f[1]]
			takes := "none"
			if o.Maybe {
				takes = "maybe"
			} else if o.Value != "" {
				takes = "value"
			}
			if short := strings.TrimPrefix(f[2], "-"); !ok || !o.Slurm || o.Short != short {
				t.Errorf("--%s, -%s is not known as one of sbatch: %+v", f[1], f[2], o)
			}
			if takes != f[3] && f[1] != "get-user-env" && f[1] != "requeue" && f[1] != "propagate" {
				t.Errorf("--%s takes the value %q here, and in sbatch: %s", f[1], o.Value, f[3])
			}
			delete(unseen, o.Long)
		case "variable":
			if vars[f[1]] != f[2] {
				t.Errorf("the variable %s stands for %q, want --%s", f[1], vars[f[1]], f[2])
			}
			delete(vars, f[1])
		}
	}
	if len(unseen)+len(vars) > 0 {
		t.Errorf("no version of sbatch has %v, %v", unseen, vars)
	}
}

// TestRefusedOptions: whatever would make the job another one is refused, wherever it is said,
// with the place; unless the user does without.
func TestRefusedOptions(t *testing.T) {
	t.Parallel()
	count := 0
	for _, o := range batchscript.Options() {
		if fate, _, _, _ := o.Becomes(); fate != batchscript.Refused {
			continue
		}
		count++
		value, word := "", "--"+o.Long
		if o.Value != "" {
			value = "1"
			word += "=" + value
		}
		setting := batchscript.Setting{Long: o.Long, Value: value}
		for place, got := range map[string][]string{
			"job.sh:2":     problemsOf(t, script("#SBATCH "+word)),
			"job.sh:3":     problemsOf(t, script("", "#SWITCHYARD "+word)),
			"command line": problemsOf(t, script("true"), setting),
		} {
			if start := place + ": --" + o.Long + ": "; len(got) != 1 || !strings.HasPrefix(got[0], start) || !strings.Contains(got[0], "; ") {
				t.Errorf("got %q, want %q and what to do", got, start)
			}
		}
		_, notices := read(t, script("#SBATCH "+word, "#SWITCHYARD --ignore="+o.Long))
		if want := "job.sh:2: --" + o.Long + " ignored because of --ignore"; !slices.Equal(notices, []string{want}) {
			t.Errorf("got %q, want %q", notices, want)
		}
	}
	if count < 55 {
		t.Errorf("only %d options are refused", count)
	}
}

// TestWhatIsRefusedAndWhatIsSaid: the words, for some; values that cannot be carried; and what
// is said of an option twice.
func TestWhatIsRefusedAndWhatIsSaid(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		lines    []string
		settings []batchscript.Setting
		problems []string
	}{
		"a topology": {
			lines: []string{"#SBATCH --switches=1"},
			problems: []string{"job.sh:2: --switches: constraints on the network topology are not supported; " +
				"if the job does not need it, remove it or add --ignore=switches"},
		},
		"all at once": {
			lines: []string{"#SBATCH --tmp 4 -w node7", "#SBATCH --contiguous -t soon", "#SBATCH --mincpus=2 --mail-type=END"},
			problems: []string{
				`job.sh:3: --time: "soon" is not a time`, "job.sh:2: --tmp: ", "job.sh:2: --nodelist: ", "job.sh:3: --contiguous: ",
				"job.sh:4: --mincpus: ",
			},
		},
		"all the memory":      {lines: []string{"#SBATCH --mem=0"}, problems: []string{"job.sh:2: --mem: 0 asks for all the memory of the nodes, which a job cannot do yet; name an amount"}},
		"an amount after all": {lines: []string{"#SBATCH --mem=0"}, settings: []batchscript.Setting{{Long: "mem", Value: "1G"}}},
		"any memory":          {lines: []string{"#SBATCH --mem=0"}, settings: []batchscript.Setting{{Long: "ignore", Value: "mem"}}},
		"another mode":        {lines: []string{"#SBATCH --open-mode=both"}, problems: []string{`job.sh:2: --open-mode: invalid mode "both"; use append or truncate`}},
		"not appended":        {lines: []string{"#SBATCH --open-mode=truncate --propagate=NONE"}},
		"limits":              {lines: []string{"#SBATCH --propagate=STACK,LOCKS"}, problems: []string{`job.sh:2: --propagate: "LOCKS" is no limit; use ALL, NONE, or some of AS,`}},
		"limits of all":       {lines: []string{"#SBATCH --propagate"}},
		"one license":         {lines: []string{"#SBATCH -L matlab"}},
		"no license":          {lines: []string{"#SBATCH -L matlab,"}, problems: []string{`job.sh:2: --licenses: "matlab," has a license without a name`}},
		"either license":      {lines: []string{"#SBATCH -L matlab|ansys"}, problems: []string{`job.sh:2: --licenses: "matlab|ansys": a name or type "matlab|ansys" has '|'; use letters`}},
		"another license":     {lines: []string{"#SBATCH -L matlab", "#SWITCHYARD -L ansys"}},
		"without":             {lines: []string{"#SBATCH -wnode7"}, settings: []batchscript.Setting{{Long: "ignore", Value: "--nodelist"}}},
		"without what":        {lines: []string{"#SWITCHYARD --ignore=gers"}, problems: []string{`job.sh:2: --ignore: unknown option "gers"`}},
		"without a carried":   {lines: []string{"#SWITCHYARD --ignore=ntasks"}, problems: []string{"job.sh:2: --ignore: --ntasks is not refused; remove it instead"}},
		"PBS":                 {lines: []string{"#PBS -l nodes=4", "#PBS -N x"}, problems: []string{"job.sh:2: sbatch would apply this line of another batch system; write it as #SBATCH, or add --ignore-pbs"}},
		"LSF":                 {lines: []string{"#BSUB\t-n 4"}, problems: []string{"job.sh:2: sbatch would apply"}},
		"no PBS":              {lines: []string{"#PBS -l nodes=4", "#SBATCH --ignore-pbs"}},
		"a comment":           {lines: []string{"#PBSfoo", "##PBS -l x", "true", "#PBS -l nodes=4"}},
		"hetjob":              {lines: []string{"#SBATCH -n 1", "#SBATCH hetjob", "#SBATCH -n 2"}, problems: []string{"job.sh:3: heterogeneous jobs are not supported; make each part a component"}},
	} {
		if len(tt.problems) == 0 {
			read(t, script(tt.lines...), tt.settings...)
			continue
		}
		got := problemsOf(t, script(tt.lines...), tt.settings...)
		if !slices.EqualFunc(got, tt.problems, strings.HasPrefix) {
			t.Errorf("%s:\ngot  %q\nwant %q", name, got, tt.problems)
		}
	}
}

// TestConveniencesAreNoticed: an option without which the job is the same is left out, and said.
func TestConveniencesAreNoticed(t *testing.T) {
	t.Parallel()
	count := 0
	for _, o := range batchscript.Options() {
		if fate, why, _, _ := o.Becomes(); fate == batchscript.Noticed {
			count++
			word := "--" + o.Long
			if o.Value != "" {
				word += "=1"
			}
			_, notices := read(t, script("#SBATCH "+word))
			if want := "job.sh:2: --" + o.Long + " has no effect: " + why; why == "" || !slices.Equal(notices, []string{want}) {
				t.Errorf("got %q, want %q", notices, want)
			}
		}
	}
	if count < 9 {
		t.Errorf("only %d options are noticed", count)
	}
}

// TestVariablesOfSbatch: variables count as they do for sbatch: they beat #SBATCH, and are
// refused as options are; what is meant for the grid beats them.
func TestVariablesOfSbatch(t *testing.T) {
	t.Parallel()
	from := origin()
	with := func(env ...string) batchscript.Origin {
		o := from
		o.Env = env
		return o
	}
	batch, notices, err := batchscript.Read(script("#SBATCH -t 5 -J five", "#SWITCHYARD -J grid"), nil,
		with("SBATCH_TIMELIMIT=7", "SBATCH_JOB_NAME=env", "SBATCH_PARTITION=p", "SBATCH_QOS=q", "SBATCH_WAIT=", "SBATCH_REQUEUE=0", "SBATCH_ACCOUNT="))
	if err != nil {
		t.Fatal(err)
	}
	if job := batch.Jobs[0]; job.Spec.WallTime.Std().Minutes() != 7 || job.Spec.Name != "grid" || !job.Wait || job.Spec.Requeue || job.Spec.Association != (protocol.Association{Partition: "p", QOS: "q"}) {
		t.Errorf("%+v", job)
	}
	if len(notices) != 0 {
		t.Errorf("notices %q", notices)
	}
	_, _, err = batchscript.Read(script("true"), nil, with("SBATCH_BURST_BUFFER=x", "SBATCH_CORE_SPEC=1", "SBATCH_SPREAD_JOB=no", "SBATCH_OVERCOMMIT=yes"))
	if err == nil {
		t.Fatal("variables are passed over")
	}
	for i, line := range strings.Split(err.Error(), "\n") {
		want := []string{"variable SBATCH_CORE_SPEC: --core-spec: ", "variable SBATCH_OVERCOMMIT: --overcommit: ", "variable SBATCH_BURST_BUFFER: --bb: "}
		if i >= len(want) || !strings.HasPrefix(line, want[i]) {
			t.Errorf("problem %d: %s", i, line)
		}
	}
}

// TestWrap: a command is a script of sh(1) with the name that sbatch gives it.
func TestWrap(t *testing.T) {
	t.Parallel()
	wrap := func(command string) []batchscript.Setting {
		return []batchscript.Setting{{Long: "wrap", Value: command}}
	}
	batch, notices, err := batchscript.Read(batchscript.Wrap("echo $((1+1))"), wrap("echo $((1+1))"), origin())
	if err != nil || len(notices) > 0 {
		t.Fatal(notices, err)
	}
	job := batch.Jobs[0]
	if text := string(job.Payload.Script); job.Spec.Name != "wrap" || !strings.HasPrefix(text, "#!/bin/sh\n") || !strings.HasSuffix(text, "\necho $((1+1))\n") {
		t.Errorf("%s: %q", job.Spec.Name, text)
	}
	if _, _, err = batchscript.Read(batchscript.Wrap(" "), wrap(" "), origin()); err == nil || err.Error() != "command line: --wrap: the command is empty" {
		t.Errorf("an empty command: %v", err)
	}
	if got := problemsOf(t, script("#SBATCH --wrap=true")); len(got) != 1 || got[0] != "job.sh:2: --wrap: it is allowed only on the command line" {
		t.Errorf("in a script: %q", got)
	}
}
