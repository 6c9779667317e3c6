package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/slurmtext"
)

// TestSlurmCommandsDocumented compares the tables in docs/slurm-commands.md with the options, and with the fields that
// differ. With -update it writes them.
func TestSlurmCommandsDocumented(t *testing.T) {
	t.Parallel()
	const path, end = "../../docs/slurm-commands.md", "<!-- end -->"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := string(data)
	for begin, tables := range map[string]string{"<!-- options -->\n": optionTables(), "<!-- fields -->\n": differenceTable()} {
		before, rest, found := strings.Cut(want, begin)
		_, after, ended := strings.Cut(rest, end)
		if !found || !ended {
			t.Fatalf("%s has no table at %s", path, begin)
		}
		want = before + begin + tables + end + after
	}
	if *update {
		if err = os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(data) {
		t.Errorf("%s is out of date; go test ./cmd/switchyard -run TestSlurmCommandsDocumented -update", path)
	}
}

// differenceTable lists the fields that differ from Slurm's.
func differenceTable() string {
	var out strings.Builder
	out.WriteString("\n| command | fields | values |\n|---|---|---|\n")
	for _, one := range slurmDifferences() {
		fmt.Fprintf(&out, "| `%s` | `%s` | %s |\n", one.by, strings.Join(strings.Fields(one.fields), "`, `"), one.why)
	}
	return out.String() + "\n"
}

func optionTables() string {
	var out strings.Builder
	for _, name := range []string{"squeue", "scancel", "sinfo", "sacct", "scontrol", "srun"} {
		fmt.Fprintf(&out, "\n### %s\n\n| option | | |\n|---|---|---|\n", name)
		for _, flag := range slurmtext.CommandFlags()[name] {
			names := "`--" + flag.Long + "`"
			if flag.Letter != 0 {
				names = "`-" + string(flag.Letter) + "`, " + names
			}
			if flag.Also != "" {
				names += ", `--" + strings.Join(strings.Fields(flag.Also), "`, `--") + "`"
			}
			fate, why := "carried", ""
			switch {
			case flag.Refused != "":
				fate, why = "refused", flag.Refused
			case flag.Noticed != "":
				fate, why = "notice", flag.Noticed
			case flag.Moot != "":
				fate, why = "accepted", flag.Moot
			}
			fmt.Fprintf(&out, "| %s | %s | %s |\n", names, fate, why)
		}
	}
	return out.String() + "\n"
}
