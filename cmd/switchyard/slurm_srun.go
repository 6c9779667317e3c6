package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/slurmtext"
	"github.com/switchyard-hpc/switchyard/localsched/tasks"
)

// srun runs tasks in a job: those of the built-in batch system itself, and by the srun of the real Slurm that the job runs under.
func (c *slurmCall) srun(args []string) error {
	job := c.getenv("SLURM_JOB_ID")
	if job == "" {
		return saying("srun: error: srun starts tasks within a job here, and allocates none; submit a script with sbatch, or a command with " +
			"sbatch --wait --wrap='COMMAND'")
	}
	if job == c.getenv("SWITCHYARD_JOB_ID") { // Slurm has a number of its own
		return c.step(args)
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	for _, dir := range filepath.SplitList(c.getenv("PATH")) {
		path := filepath.Join(dir, "srun")
		found, err := exec.LookPath(path)
		if err != nil || sameFile(found, program) {
			continue
		}
		return fmt.Errorf("start %s: %w", found, syscall.Exec(found, append([]string{"srun"}, args...), os.Environ())) //nolint:gosec // the user's own PATH
	}
	return saying("srun: error: the job " + job + " is none of Switchyard's, and there is no srun of Slurm in PATH")
}

func sameFile(x, y string) bool {
	a, errA := os.Stat(x)
	b, errB := os.Stat(y)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// stepVariables are input variables of srun(1) by the option that each stands for, which overrides it.
func stepVariables() map[string]string {
	return map[string]string{
		"cpus-per-task": "SRUN_CPUS_PER_TASK", "exact": "SLURM_EXACT", "export": "SLURM_EXPORT_ENV", "error": "SLURM_STDERRMODE",
		"input": "SLURM_STDINMODE", "kill-on-bad-exit": "SLURM_KILL_BAD_EXIT", "label": "SLURM_LABELIO", "mpi": "SLURM_MPI_TYPE",
		"multi-prog": "SLURM_MULTI_PROG", "ntasks": "SLURM_NTASKS", "ntasks-per-node": "SLURM_NTASKS_PER_NODE", "open-mode": "SLURM_OPEN_MODE",
		"output": "SLURM_STDOUTMODE", "overcommit": "SLURM_OVERCOMMIT", "overlap": "SLURM_OVERLAP", "time": "SLURM_TIMELIMIT",
		"unbuffered": "SLURM_UNBUFFEREDIO", "wait": "SLURM_WAIT",
	}
}

// fromVariables are the options that the environment sets.
func (c *slurmCall) fromVariables() (given []slurmtext.Given) {
	variables := stepVariables()
	for _, flag := range slurmtext.CommandFlags()["srun"] {
		variable := variables[flag.Long]
		value := c.getenv(variable)
		if variable == "" || value == "" || flag.Argument == slurmtext.NoValue && (value == "0" || value == "no") {
			continue
		}
		given = append(given, slurmtext.Given{Flag: &flag, Value: value, Typed: variable})
	}
	return given
}

// step runs a step of the job that this program is called in.
func (c *slurmCall) step(args []string) error {
	given, words, err := slurmtext.Parse(slurmtext.CommandFlags()["srun"], args, true)
	if err != nil {
		return &slurmError{lines: []string{"srun: " + err.Error(), `Try "srun --help" for more information`}, code: exitSlurmUsage}
	}
	c.given, c.rest = append(c.fromVariables(), given...), words
	stop, err := c.general()
	if stop || err != nil {
		return err
	}
	if mpi, _ := c.value("mpi"); mpi == "list" {
		c.printf("MPI plugin types are...\n\tnone\n")
		return nil
	}
	if len(words) == 0 {
		return saying("srun: fatal: No command given to execute.")
	}
	s, err := c.newStep()
	if err != nil {
		return stepError(err)
	}
	waited := false
	number, release, err := s.Allocation.Begin(s.Place, c.has("immediate"), func() {
		waited = true
		c.sayOfStep("srun: Job %s step creation temporarily disabled, retrying (Requested nodes are busy)", s.Allocation.Job)
	})
	if err != nil {
		return stepError(err)
	}
	if waited {
		c.sayOfStep("srun: Step created for job %s", s.Allocation.Job)
	}
	s.Number = number
	code, err := s.Run()
	switch err = errors.Join(err, release()); {
	case err != nil:
		return stepError(err)
	case code != 0:
		return &exitError{code: code}
	}
	return nil
}

// stepError is an error of srun, in the words of Slurm.
func stepError(err error) error {
	lines := strings.Split(err.Error(), "\n")
	for i := range lines {
		lines[i] = "srun: error: " + lines[i]
	}
	return saying(lines...)
}

// sayOfStep prints what is not an error, unless -Q is given.
func (c *slurmCall) sayOfStep(format string, args ...any) {
	if !c.has("quiet") {
		c.problem(format, args...)
	}
}

// newStep is the step of a command line.
func (c *slurmCall) newStep() (*tasks.Step, error) {
	a, err := tasks.AllocationOf(c.getenv)
	if err != nil {
		return nil, fmt.Errorf("%w: the job was started by an earlier version of Switchyard, which has no steps, or they were removed", err)
	}
	if id, set := c.value("jobid"); set && id != a.Job {
		return nil, fmt.Errorf("Unable to confirm allocation for job %s: this is job %s, and srun starts tasks in its own", id, a.Job) //nolint:staticcheck // Slurm's words
	}
	if mpi, _ := c.value("mpi"); mpi != "" && mpi != "none" {
		return nil, fmt.Errorf("Invalid MPI type '%s', --mpi=list for acceptable types; start an MPI program with its own mpirun", mpi) //nolint:staticcheck // Slurm's words
	}
	request, err := c.stepRequest()
	if err != nil {
		return nil, err
	}
	s := &tasks.Step{
		Allocation: a, CPUsPerTask: request.CPUsPerTask, JobName: c.getenv("SLURM_JOB_NAME"), User: c.getenv("SLURM_JOB_USER"),
		Index: cmp.Or(c.getenv("SLURM_ARRAY_TASK_ID"), strconv.FormatUint(noElement, 10)),
		Label: c.has("label"), Unbuffered: c.has("unbuffered"),
		Say: func(line string) { c.problem("%s", console.Plain(line)) },
	}
	s.Place, err = a.Place(request)
	for _, notice := range s.Place.Notices {
		c.sayOfStep("srun: %s", notice)
	}
	if err != nil {
		return nil, err
	}
	return s, errors.Join(c.stepStreams(s), c.stepEnd(s), c.stepPrograms(s))
}

// noElement is what Slurm writes for the index of a job that is no element of an array.
const noElement = 4294967294

// stepRequest is how many tasks on what the options ask for.
func (c *slurmCall) stepRequest() (r tasks.Request, err error) {
	number := func(option string, to *int) {
		text, set := c.value(option)
		if !set {
			return
		}
		n, wrong := strconv.Atoi(text)
		if wrong != nil || n < 1 || n > tasks.MaxTasks {
			err = cmp.Or(err, fmt.Errorf("Invalid numeric value %q for --%s.", text, option)) //nolint:staticcheck // Slurm's words
			return
		}
		*to = n
	}
	number("ntasks", &r.Tasks)
	number("cpus-per-task", &r.CPUsPerTask)
	number("ntasks-per-node", &r.TasksPerNode)
	if text, set := c.value("nodes"); set {
		least, most, ranged := strings.Cut(text, "-")
		if !ranged {
			most = least
		}
		var wrong error
		if r.Nodes, wrong = strconv.Atoi(least); wrong == nil {
			r.MaxNodes, wrong = strconv.Atoi(most)
		}
		if wrong != nil || r.Nodes < 1 || r.MaxNodes < r.Nodes {
			err = cmp.Or(err, fmt.Errorf("invalid node count %q", text))
		}
	}
	r.Overcommit, r.Overlap = c.has("overcommit"), c.has("overlap")
	r.Exact = c.has("exact") || c.has("exclusive")
	return r, err
}

// stepStreams says where the input of the tasks comes from, and their output goes to.
func (c *slurmCall) stepStreams(s *tasks.Step) error {
	for option, stream := range map[string]*tasks.Stream{"input": &s.Stdin, "output": &s.Stdout, "error": &s.Stderr} {
		text, _ := c.value(option)
		*stream = tasks.Stream(text)
	}
	switch mode, _ := c.value("open-mode"); mode {
	case "a", "append":
		s.Append = true
	case "", "t", "truncate":
	default:
		return fmt.Errorf("Invalid --open-mode argument: %s. Ignored", mode) //nolint:staticcheck // Slurm's words
	}
	return nil
}

// stepEnd says when the step is ended before its tasks end.
func (c *slurmCall) stepEnd(s *tasks.Step) error {
	if kill, set := c.value("kill-on-bad-exit"); set {
		s.KillOnBadExit = kill != "0"
	}
	if text, set := c.value("wait"); set {
		seconds, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			return fmt.Errorf("Invalid numeric value %q for --wait.", text) //nolint:staticcheck // Slurm's words
		}
		s.Wait = time.Duration(seconds) * time.Second
	}
	if text, set := c.value("time"); set {
		limit, err := batchscript.ParseTime(text)
		if err != nil {
			return fmt.Errorf("--time: %w", err)
		}
		s.Limit = time.Duration(limit) * time.Millisecond
	}
	return nil
}

// stepPrograms says what the tasks run, with which environment, and where.
func (c *slurmCall) stepPrograms(s *tasks.Step) (err error) {
	if s.Dir, err = os.Getwd(); err != nil {
		return fmt.Errorf("find the working directory: %w", err)
	}
	if dir, set := c.value("chdir"); set {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(s.Dir, dir)
		}
		if info, absent := os.Stat(dir); absent != nil || !info.IsDir() {
			return fmt.Errorf("couldn't chdir to `%s': it is no directory that this account can see", dir)
		}
		s.Dir = dir
	}
	export, _ := c.value("export")
	s.Env = exported(os.Environ(), export)
	count := s.Place.Count()
	if !c.has("multi-prog") {
		s.Programs = slices.Repeat([][]string{c.rest}, count)
		return nil
	}
	file, err := os.Open(c.rest[0])
	if err != nil {
		return fmt.Errorf("--multi-prog: %w", err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	s.Programs, err = tasks.Programs(c.rest[0], file, count)
	return err
}

// exported is the environment of tasks by the value of --export: all, or what is named and what says of the job.
func exported(env []string, export string) []string {
	if export == "" || export == "ALL" {
		return env
	}
	named := map[string]bool{}
	var set []string
	all := false
	for word := range strings.SplitSeq(export, ",") {
		name, _, valued := strings.Cut(word, "=")
		switch {
		case word == "ALL":
			all = true
		case valued:
			set = append(set, word)
		case word != "NONE":
			named[name] = true
		}
	}
	kept := slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		ofJob := strings.HasPrefix(name, "SLURM") || strings.HasPrefix(name, "SWITCHYARD_")
		return !all && !named[name] && !ofJob
	})
	return tasks.With(kept, set...)
}
