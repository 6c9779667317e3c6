package spool

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Given is what every job finds in its environment whose directory is dir, as NAME=value:
// what Switchyard and sbatch say of it and what a login of the account would: for a guest in any case, and for a
// job of this site where its submission leaves that out, as with --export=NONE. The CPUs are those that it has: more
// than it asks for if it has its nodes for itself.
func (j Job) Given(dir string, cpus int) []string {
	sub := j.Submission
	given := []string{
		"SWITCHYARD_JOB_ID=" + sub.Tag.Job.String(),
		"SWITCHYARD_JOB_NAME=" + sub.Spec.Name,
		"SWITCHYARD_ORIGIN_SITE=" + string(sub.Origin),
		"SWITCHYARD_EXEC_SITE=" + string(j.Site),
		"SWITCHYARD_EPOCH=" + strconv.FormatUint(uint64(sub.Tag.Epoch), 10),
		"SWITCHYARD_CPUS=" + strconv.Itoa(cpus),
		"SWITCHYARD_USAGE=" + filepath.Join(dir, usageFile),
		"SLURM_JOB_NAME=" + sub.Spec.Name,
		"SLURM_SUBMIT_DIR=" + j.submitDir(dir),
	}
	if shell := sub.Payload.Shell; shell != nil && shell.Host != "" {
		given = append(given, "SLURM_SUBMIT_HOST="+shell.Host)
	}
	if n := sub.Spec.Restarts; n > 0 {
		given = append(given, "SLURM_RESTART_COUNT="+strconv.Itoa(n))
	}
	for _, login := range []struct{ name, value string }{
		{"HOME", j.Account.Home}, {"USER", j.Account.Name}, {"LOGNAME", j.Account.Name}, {"SHELL", j.Account.Shell},
	} {
		if sub.Guest || !sets(sub.Payload.Env, login.name) {
			given = append(given, login.name+"="+login.value)
		}
	}
	return given
}

// sets says whether an environment has the variable.
func sets(env []string, name string) bool {
	return slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, name+"=") })
}

// submitDir is what a script takes for the directory of its submission: for a guest, whose own is at another
// site, that in which it starts.
func (j Job) submitDir(dir string) string {
	if j.Submission.Guest {
		return j.WorkDir(dir)
	}
	return j.Submission.Payload.WorkDir
}

// Over is an environment of what was submitted and, over it, what is given. Of what
// was submitted, words that are not NAME=value are left out, and Slurm's names but for [protocol.ExportVariable] and
// those of arrays, which the origin sets: they tell of the job, if any, from which it was submitted.
func Over(submitted, given []string) []string {
	hidden := map[string]bool{}
	for _, v := range given {
		name, _, _ := strings.Cut(v, "=")
		hidden[name] = true
	}
	env := []string{}
	for _, v := range submitted {
		if name, _, ok := strings.Cut(v, "="); ok && name != "" && !hidden[name] && (name == protocol.ExportVariable || protocol.IsArrayVariable(name) || !strings.HasPrefix(name, "SLURM")) {
			env = append(env, v)
		}
	}
	return slices.Concat(env, given)
}
