package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

const (
	scriptManual     = "../../docs/scripts.md"
	scriptTableBegin = "<!-- The scripts: made by go test ./cmd/switchyard -run TestScripts -update -->\n"
	scriptTableEnd   = "<!-- The end of the scripts. -->\n"
)

// scriptRow is a script and what came of it in the places.
type scriptRow struct {
	name, about string
	outcomes    []scriptOutcome
}

// filesStayRemark is why most scripts end in another way at another site.
const filesStayRemark = "[only named files travel](cli.md#files)"

// scriptRemarks say why what comes of a script differs, and what to do, where its messages do not.
var scriptRemarks = map[string]string{
	"chdir.sh":        filesStayRemark,
	"files.sh":        filesStayRemark,
	"hostfile.sh":     filesStayRemark,
	"memory-steps.sh": filesStayRemark,
	"sbcast.sh":       filesStayRemark,
	"scratch.sh":      filesStayRemark,
	"signal.sh":       filesStayRemark,
	"step-output.sh":  filesStayRemark,
	"submit-dir.sh":   filesStayRemark + "; there `SLURM_SUBMIT_DIR` is the directory in which the job starts",
	"umask.sh":        filesStayRemark,
	"wrap.sh":         filesStayRemark,

	"killed.sh":         "the exit code is that of a shell, 128 and the signal; `sbatch --wait` has 1 for all signals",
	"mpi.sh":            "as in submit-dir.sh",
	"mpi-step.sh":       "as in submit-dir.sh",
	"no-directory.sh":   "at its own site the job does not run, as under Slurm. At another site it has run when its output comes, which is kept",
	"no-interpreter.sh": "the exit code is that of a shell",
	"requeue.sh":        "if a node fails, Switchyard itself has the job placed again, at any site; Slurm never starts it twice",
	"scancel.sh":        "Slurm's message is not in the output, but the reason that `submit --wait` and `status` show",
}

// compareScriptTable compares the outcomes with the table of the manual, or writes it.
func compareScriptTable(t *testing.T, rows []scriptRow) {
	t.Helper()
	data, err := os.ReadFile(scriptManual)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begun := strings.Cut(string(data), scriptTableBegin)
	table, after, ended := strings.Cut(rest, scriptTableEnd)
	if !begun || !ended {
		t.Fatalf("%s has no table between %q and %q", scriptManual, scriptTableBegin, scriptTableEnd)
	}
	got := scriptTable(t, rows)
	if got == table {
		return
	}
	if *update {
		if err = os.WriteFile(scriptManual, []byte(before+scriptTableBegin+got+scriptTableEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	was := strings.Split(table, "\n")
	for line := range strings.Lines(got) {
		if line = strings.TrimSuffix(line, "\n"); !slices.Contains(was, line) {
			t.Errorf("not in %s, see go test ./cmd/switchyard -run TestScripts -update:\n%s", scriptManual, line)
		}
	}
	if !t.Failed() {
		t.Errorf("the table in %s has rows that are none, see -update", scriptManual)
	}
}

func scriptTable(t *testing.T, rows []scriptRow) string {
	t.Helper()
	var out strings.Builder
	out.WriteString("| script | what it does | plain `sbatch` | at its own site | at another site | remark |\n|---|---|---|---|---|---|\n")
	for _, row := range rows {
		own, other := row.outcomes[0].compare(row.outcomes[1]), row.outcomes[0].compare(row.outcomes[2])
		if other == own && own != "same" {
			other = "as at its own site"
		}
		remark := scriptRemarks[row.name]
		if remark != "" && own == "same" && other == "same" {
			t.Errorf("%s does the same everywhere: remove its remark", row.name)
		}
		fmt.Fprintf(&out, "| [%s](../cmd/switchyard/%s/%s) | %s | %s | %s | %s | %s |\n",
			row.name, userScripts, row.name, inCell(row.about), inCell(row.outcomes[0].alone()), inCell(own), inCell(other), inCell(remark))
	}
	return out.String()
}

// inCell is a text that may stand in a cell of a table.
func inCell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", ">", "&gt;", "\n", " ").Replace(text)
}

// alone says what came of a script.
func (o scriptOutcome) alone() string {
	if o.refused {
		return fmt.Sprintf("refused, exit code %d: %s", o.code, strings.Join(o.said, "; "))
	}
	return fmt.Sprintf("exit code %d", o.code)
}

// compare says what of another outcome is not as in this.
func (o scriptOutcome) compare(other scriptOutcome) string {
	switch {
	case other.refused:
		return other.alone()
	case o.refused:
		return "accepted; " + other.alone()
	}
	var found []string
	if other.code != o.code {
		found = append(found, fmt.Sprintf("exit code %d", other.code))
	}
	names := maps.Clone(o.files)
	maps.Copy(names, other.files)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		was, had := o.files[name]
		is, has := other.files[name]
		switch {
		case !has:
			found = append(found, "no file "+name)
		case !had:
			found = append(found, "the file "+name+" besides")
		default:
			if lines := lineDifferences(was, is); lines != "" {
				found = append(found, name+": "+lines)
			}
		}
	}
	for _, line := range other.said {
		// How a job ended is said of each that fails.
		if !slices.Contains(o.said, line) && (!strings.HasPrefix(line, "job ID ") || other.code != o.code) {
			found = append(found, "message: "+line)
		}
	}
	if len(found) == 0 {
		return "same"
	}
	return strings.Join(found, "; ")
}

// lineDifferences says which lines of a text another has not, and the reverse. A variable of another value is
// one difference.
func lineDifferences(was, is string) string {
	old, now := slices.Collect(strings.Lines(was)), slices.Collect(strings.Lines(is))
	gone := slices.DeleteFunc(slices.Clone(old), func(line string) bool { return slices.Contains(now, line) })
	come := slices.DeleteFunc(slices.Clone(now), func(line string) bool { return slices.Contains(old, line) })
	var found []string
	for _, line := range gone {
		line = strings.TrimSpace(line)
		name, _, assigned := strings.Cut(line, "=")
		at := slices.IndexFunc(come, func(line string) bool { return assigned && strings.HasPrefix(strings.TrimSpace(line), name+"=") })
		if at < 0 {
			found = append(found, "without `"+line+"`")
			continue
		}
		found = append(found, "`"+strings.TrimSpace(come[at])+"` instead of `"+line+"`")
		come = slices.Delete(come, at, at+1)
	}
	for _, line := range come {
		found = append(found, "also `"+strings.TrimSpace(line)+"`")
	}
	if len(found) == 0 && was != is {
		found = append(found, "the lines in another order")
	}
	return strings.Join(found, ", ")
}
