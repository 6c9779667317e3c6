package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/passwd"
	"github.com/switchyard-hpc/switchyard/internal/slurmtext"
	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestSlurmEmptyConditions: a condition without a value could mean no jobs or all, which scancel would end; each is refused
// before the peer is asked.
func TestSlurmEmptyConditions(t *testing.T) {
	t.Parallel()
	nowhere := filepath.Join(t.TempDir(), "none.sock")
	refuses := func(command string, args ...string) {
		t.Helper()
		var out bytes.Buffer
		a := &app{stdout: &out, stderr: &out, now: time.Now, getenv: func(name string) string {
			return map[string]string{"SWITCHYARD_SOCKET": nowhere}[name]
		}}
		code := a.runAs(t.Context(), command, args)
		if code != exitFailed || !strings.Contains(out.String(), "empty") || strings.Contains(out.String(), "contact") {
			t.Errorf("%s %q: exit code %d and %q, want an error that the value is empty", command, args, code, &out)
		}
	}
	others := strings.Fields("delimiter endtime format Format iterate signal sort starttime units") // say something else than which jobs
	commands := slurmtext.CommandFlags()
	delete(commands, "srun") // which selects no jobs
	for command, flags := range commands {
		for _, flag := range flags {
			if flag.Argument == slurmtext.NoValue || flag.Refused != "" || flag.Moot != "" || flag.Long == "json" || slices.Contains(others, flag.Long) {
				continue
			}
			refuses(command, "--"+flag.Long+"=")
			refuses(command, "--"+flag.Long+"=,")
			if flag.Letter != 0 {
				refuses(command, "-"+string(flag.Letter), "")
			}
		}
	}
}

// TestSlurmOptionsAreRead: an option that the tables call carried is read somewhere in the code of its command.
func TestSlurmOptionsAreRead(t *testing.T) {
	t.Parallel()
	read := map[string]map[string]bool{} // the texts in each file
	for command, flags := range slurmtext.CommandFlags() {
		files := []string{"slurm.go", "slurm_" + command + ".go"}
		if command == "squeue" {
			files = append(files, "slurm_sinfo.go") // printTitles
		}
		for _, file := range files {
			if read[file] == nil {
				read[file] = textsIn(t, file)
			}
		}
		for _, flag := range flags {
			carried := flag.Refused == "" && flag.Noticed == "" && flag.Moot == ""
			if carried && !slices.ContainsFunc(files, func(file string) bool { return read[file][flag.Long] }) {
				t.Errorf("%s --%s is accepted, but nothing in %q reads it", command, flag.Long, files)
			}
		}
	}
}

// textsIn are the string literals of a Go file of this package.
func textsIn(t *testing.T, file string) map[string]bool {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]bool{}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if text, is := n.(*ast.BasicLit); is && text.Kind == token.STRING {
			value, err := strconv.Unquote(text.Value)
			if err != nil {
				t.Fatal(err)
			}
			texts[value] = true
		}
		return true
	})
	return texts
}

// TestSlurmUnits: --noconvert and --units say in which unit all memory is.
func TestSlurmUnits(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]byte{"squeue": 0, "squeue --noconvert": 'M', "sacct --noconvert": 'M', "sacct --units=g": 'G', "sacct --units K --noconvert": 'K'} {
		var err error
		words := strings.Fields(line)
		call := &slurmCall{app: &app{getenv: func(string) string { return "" }}, users: map[string]passwd.Entry{}, groups: map[uint32]string{}}
		if call.given, _, err = slurmtext.Parse(slurmtext.CommandFlags()[words[0]], words[1:], false); err != nil {
			t.Fatal(err)
		}
		if got := call.row(t.Context(), view.Job{User: "root"}, "a1").Unit; got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	var out bytes.Buffer
	a := &app{stdout: &out, stderr: &out, now: time.Now, getenv: func(string) string { return "" }}
	if code := a.runAs(t.Context(), "sacct", []string{"--units=x"}); code != exitFailed || !strings.Contains(out.String(), "Invalid unit type") {
		t.Errorf("--units=x: %d, %s", code, &out)
	}
}

// TestSlurmAccountsFold: the case of accounts and QOS does not count, as in Slurm.
func TestSlurmAccountsFold(t *testing.T) {
	t.Parallel()
	var job view.Job
	job.Account, job.QOS = "Physics", "Long"
	filter := jobFilter{accounts: []string{"chem", "physics"}, qos: []string{"LONG"}}
	if !filter.wants(&job) {
		t.Error("-A physics -q LONG does not find a job of Physics with the QOS Long")
	}
	if filter.accounts = []string{"physic"}; filter.wants(&job) {
		t.Error("-A physic finds a job of Physics")
	}
}

// TestSinfoJSONOfAPartition: sinfo --json has the sites of the one partition, and none of another.
func TestSinfoJSONOfAPartition(t *testing.T) {
	t.Parallel()
	n := &fakeNode{replyF: always(view.Sites{Sites: []view.Site{{Site: "a1", Link: "self", CPUs: 4}}}, nil)}
	socket := serve(t, n)
	for partition, want := range map[string]bool{slurmtext.Partition: true, "other," + slurmtext.Partition: true, "other": false} {
		out, code := new(grid).slurmLine(t, &testbed.Site{Socket: socket}, "sinfo --json -p "+partition)
		if strings.Contains(out, `"hostname": "a1"`) != want || code != 0 {
			t.Errorf("-p %s: %s (%d)", partition, out, code)
		}
	}
}

// TestSqueueAsksForWhatIsWanted: squeue and scancel have the peer select jobs, so that few are sent, and those that have ended
// are the last ones that are wanted, not those of the last ones of all users that are.
func TestSqueueAsksForWhatIsWanted(t *testing.T) {
	t.Parallel()
	for line, states := range map[string][]protocol.State{
		"squeue -u root -n tides -t CD": {protocol.Completed}, "squeue -u root -n tides -t CG,R": {protocol.Running}, "squeue -u root -n tides": {protocol.Pending, protocol.Running},
		"squeue -u root -n tides -t all": nil, "scancel -u root -n tides -t PD": {protocol.Pending},
	} {
		n := &fakeNode{replyF: always(view.Queue{}, nil)}
		out, code := new(grid).slurmLine(t, &testbed.Site{Socket: serve(t, n)}, line)
		var asked view.QueueFilter
		for _, ev := range n.asked {
			if queue, is := ev.(event.AskQueue); is {
				asked = queue.Filter
			}
		}
		if !slices.Equal(asked.Users, []string{"root"}) || !slices.Equal(asked.Names, []string{"tides"}) || !slices.Equal(asked.States, states) || code != 0 {
			t.Errorf("%s asks for users %q, names %q, states %v: %s", line, asked.Users, asked.Names, asked.States, out)
		}
	}
}
