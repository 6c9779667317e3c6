package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// primesBelow24000 are those of the twelve inputs of examples/workflows.
const primesBelow24000 = "2668\n"

// workflowPatience bounds a workflow of some dozen jobs, of which Snakemake, Toil and Cylc start a Python for each.
const workflowPatience = 15 * time.Minute

// TestWorkflowTools: make, GNU parallel, Snakemake, Toil and Cylc run the workflow of examples/workflows with Slurm's commands. Each has steps at
// three sites, of which one has a real Slurm, and gets the right result. A step that fails fails the workflow.
func TestWorkflowTools(t *testing.T) {
	t.Parallel()
	under, err := testbed.WorkflowTools()
	if errors.Is(err, os.ErrNotExist) && os.Getenv("CI") != "true" {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	w := newWorkflows(t, under)
	tools := []workflowTool{
		{"make", "make", "make -j 20"},
		{"parallel", "parallel", "./run.sh"},
		{"snakemake", "snakemake", "snakemake --profile profile"},
		{"snakemake-slurm", "snakemake", "snakemake --profile slurm"},
		{"cylc", "cylc", "./run.sh"},
		{"toil", "toil", "./run.sh"},
	}
	t.Run("one after the other", func(t *testing.T) { // else each could have a site and wait for that of another
		t.Parallel()
		for _, tool := range tools {
			t.Run(tool.name, func(t *testing.T) { w.spread(t, tool) })
		}
	})
	for _, tool := range tools {
		t.Run(tool.name+" with a step that fails", func(t *testing.T) {
			t.Parallel()
			w.failing(t, tool)
		})
	}
}

// workflowTool is a way to run the workflow.
type workflowTool struct{ name, files, command string } // files is the directory of examples/workflows

// workflows is a grid for tools that run workflows.
type workflows struct {
	*grid
	under []string
	links string // the directory of Slurm's commands
}

// newWorkflows starts a grid of three sites that share the directories of the workflows and have the tools.
func newWorkflows(t *testing.T, under []string) workflows {
	t.Helper()
	slurm := slurms{clusters: 1, cpus: 2, under: under}.started(t)
	// Snakemake needs a directory for its cache, and nobody, as whom root has the jobs run, has no home.
	here := testbed.Machine{Name: "aurora", CPUs: 2, More: "[submit]\nexport_remote = [\"LANG\", \"XDG_CACHE_HOME\"]\n"}
	sites := []testbed.Machine{here, slurm.site("borealis", "siteA"), {Name: "cygnus", CPUs: 2}}
	for i := range sites {
		sites[i].Shared = "jobs"
	}
	g := makeGridFrom(t, testbed.Config{Binary: ownBinary(t), Sites: sites, QuoteTimeout: quoteTimeout, CheckInterval: 30 * protocol.Second})
	for _, site := range g.Sites {
		site.Under = under
	}
	if err := g.Start(patience(t)); err != nil {
		t.Fatal(err)
	}
	program, links := filepath.Join(g.Dir, "switchyard"), filepath.Join(g.Dir, "bin")
	if out, err := exec.CommandContext(t.Context(), "install", "-m", "755", plainBinary(t), program).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), program, "slurm-commands", links)
	cmd.Env = append(os.Environ(), asBinary+"="+testCommit)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.Chmod(links, 0o755); err != nil {
		t.Fatal(err)
	}
	return workflows{grid: g, under: under, links: links}
}

// prepared makes the directory of a tool's workflow as examples/workflows says, and returns it.
func (w workflows) prepared(t *testing.T, name, tool string) string {
	t.Helper()
	script, err := filepath.Abs("../../examples/workflows/prepare.sh")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(w.work, name)
	out, err := exec.CommandContext(t.Context(), script, tool, dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	account, err := testbed.JobAccount(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chown(path, int(account.UID), int(account.GID)))
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// run runs a tool in the directory of its workflow, as the account that its jobs have.
func (w workflows) run(t *testing.T, dir, command string) (code int, said string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), workflowPatience)
	defer cancel()
	account, err := testbed.JobAccount(ctx)
	if err != nil {
		t.Fatal(err)
	}
	args := append(w.under[1:len(w.under):len(w.under)], "setpriv", "--reuid="+strconv.Itoa(int(account.UID)), "--regid="+strconv.Itoa(int(account.GID)),
		"--clear-groups", "sh", "-c", command)
	cmd := exec.CommandContext(ctx, w.under[0], args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + w.links + ":/usr/local/bin:/usr/bin:/bin", "HOME=" + dir, "USER=" + account.Name, "XDG_CACHE_HOME=" + dir, "LANG=C.UTF-8",
		asBinary + "=" + testCommit, "SWITCHYARD_SOCKET=" + w.Sites[0].Socket,
		"CI=true", // Snakemake asks for the states of jobs every second, else every 10
	}
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// stepsBecome has the steps of a workflow run more before they count.
func stepsBecome(t *testing.T, dir, more string) {
	t.Helper()
	step := filepath.Join(dir, "count.sh")
	script := "#!/bin/sh\nset -eu\ncd \"$(dirname \"$0\")\"\n" + more + "exec ./counted.sh \"$@\"\n"
	if err := errors.Join(os.Rename(step, filepath.Join(dir, "counted.sh")), os.WriteFile(step, []byte(script), 0o755)); err != nil {
		t.Fatal(err)
	}
}

// spread runs a workflow whose steps go on when each site runs one.
func (w workflows) spread(t *testing.T, tool workflowTool) {
	t.Helper()
	dir := w.prepared(t, tool.name, tool.files)
	stepsBecome(t, dir, "mkdir -p ran\ntouch \"ran/$SWITCHYARD_EXEC_SITE\"\nuntil [ \"$(ls ran | wc -l)\" -eq 3 ]; do sleep 0.1; done\n")
	code, said := w.run(t, dir, tool.command)
	total, err := os.ReadFile(filepath.Join(dir, "total"))
	if code != 0 || err != nil || string(total) != primesBelow24000 {
		t.Fatalf("exit code %d, the result is %q, %v:\n%s", code, total, err, said)
	}
	counts, err := filepath.Glob(filepath.Join(dir, "output/*.count"))
	if err != nil {
		t.Fatal(err)
	}
	ran := map[string]int{}
	for _, path := range counts {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, site, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
		ran[site]++
	}
	if len(counts) != 12 || ran["aurora"] == 0 || ran["borealis"] == 0 || ran["cygnus"] == 0 {
		t.Errorf("%d steps, which ran at %v", len(counts), ran)
	}
}

// failing runs a workflow of three steps, of which one fails.
func (w workflows) failing(t *testing.T, tool workflowTool) {
	t.Helper()
	dir := w.prepared(t, tool.name+"-fails", tool.files)
	stepsBecome(t, dir, "if [ \"$1\" = input/01.txt ]; then touch failed; exit 3; fi\n")
	for part := 3; part < 12; part++ {
		if err := os.Remove(filepath.Join(dir, "input", fmt.Sprintf("%02d.txt", part))); err != nil {
			t.Fatal(err)
		}
	}
	code, said := w.run(t, dir, tool.command)
	t.Logf("exit code %d:\n%s", code, said)
	if _, err := os.Stat(filepath.Join(dir, "failed")); code == 0 || err != nil {
		t.Errorf("exit code %d, the step that fails: %v", code, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "total")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a result: %v", err)
	}
}
