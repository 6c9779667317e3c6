package batchscript

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/problems"
)

// Variable is one of the submission that a script uses without having set it.
type Variable struct {
	Name  string
	Place problems.Place // where it is used first
}

// command is a line of a script, with those that continue it, without its comment.
type command struct {
	place problems.Place
	text  string
}

// commands are the lines of a script that are neither empty nor comments. They are found as in a shell, which is
// near enough for other languages: what is found in them is only noticed.
func commands(script Script) (all []command) {
	number, open := 0, false
	comment := regexp.MustCompile(`(^|\s)#.*$`)
	for line := range strings.Lines(string(script.Data)) {
		number++
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "#") {
			line = ""
		} else if strings.Contains(line, "#") {
			line = comment.ReplaceAllString(line, "")
		}
		text, continues := strings.CutSuffix(line, `\`)
		switch {
		case open:
			all[len(all)-1].text += " " + text
		case strings.TrimSpace(text) != "":
			all = append(all, command{problems.Place{File: script.Name, Line: number}, text})
		default:
			continue
		}
		open = continues
	}
	return all
}

// shell says whether the script's interpreter is a shell, by its first line.
func (s Script) shell() bool {
	line, _, _ := strings.Cut(string(s.Data), "\n")
	words := strings.Fields(strings.TrimPrefix(line, "#!"))
	if len(words) > 1 && filepath.Base(words[0]) == "env" {
		words = words[1:]
	}
	return len(words) > 0 && slices.Contains([]string{"sh", "bash", "dash", "ksh", "zsh"}, filepath.Base(words[0]))
}

// slurmCalls returns notices on the commands of Slurm in a script that do not do what they do in a job of sbatch: where a
// Slurm runs it, as it has another name there and is not started again, and at sites that are not its user's.
func (w *jobOptions) slurmCalls(script Script) (underSlurm, elsewhere []string) {
	slurm, away := report{}, report{}
	call := regexp.MustCompile("(?:^|[;|&(!{`\"'=]|\\b(?:then|do|else|time|exec|if|while|until|nohup)\\s)\\s*(?:[A-Za-z_]\\w*=\\S*\\s+)*(?:/\\S+/)?" +
		"(sbatch|salloc|squeue|scancel|scontrol|sacct)(\\s(?:\\$\\([^)]*\\)|[^;|&)`])*|$)")
	says := regexp.MustCompile(`^\s*(?:echo|printf)\b[^|;&$` + "`" + `]*$`)
	for _, line := range commands(script) {
		if says.MatchString(line.text) {
			continue
		}
		for _, found := range call.FindAllStringSubmatch(line.text, -1) {
			w.slurmCall(line, found[1], found[2], &slurm, &away)
		}
	}
	return slurm.notices, away.notices
}

// slurmCall notes one command of Slurm that is in the line.
func (w *jobOptions) slurmCall(line command, name, args string, slurm, away *report) {
	at := line.place
	args = regexp.MustCompile(`\$\([^)]*\)?`).ReplaceAllString(args, "x") // options of another command
	has := func(pattern string) bool { return regexp.MustCompile(`(^|\s)(?:` + pattern + `)`).MatchString(args) }
	switch {
	case name == "sbatch", name == "salloc":
		away.notice(at, "%s fails at another site, or, if that site has Slurm, submits to it as the account that the job has there, "+
			"and neither switchyard nor the Slurm of this site shows that job; keep the job at this site, or submit the next one when it has ended", name)
		return
	case name == "scontrol" && has("requeue"):
		slurm.notice(at, "at a site with Slurm scontrol requeue fails: Slurm starts no job of Switchyard again; have the script exit, and requeue the job with switchyard")
		return
	case name == "scontrol":
		given := regexp.MustCompile(`JobName|Command|Comment|Requeue|StdOut|StdErr`)
		if has(`show\s+(?:-\w+\s+)*job`) && (given.MatchString(line.text) || !strings.Contains(line.text, "|")) {
			slurm.notice(at, "at a site with Slurm scontrol shows the JobName, Command, Comment, Requeue, StdOut and StdErr that Switchyard has given it, not those of the script")
		}
		return
	}
	if has(`--name|--jobname`) || name != "sacct" && has(`-[a-zA-Z]*n\b`) {
		slurm.notice(at, "at a site with Slurm %s does not find the job by its name: its name in Slurm is longer, see docs/slurm.md; use $SLURM_JOB_ID", name)
	}
	if has(`-[a-zA-Z]*u\b|--user|--me\b`) {
		effect := "shows"
		if name == "scancel" {
			effect = "cancels"
		}
		away.notice(at, "at another site with Slurm %s %s all jobs of the account that the job has there, which may be those of others", name, effect)
	}
}

// variablesUsed are those of the job's environment that a shell script uses, and that are not another site's own.
func variablesUsed(script Script, env []string) (used []Variable) {
	if !script.shell() {
		return nil
	}
	known := variables(env)
	for _, name := range []string{"HOME", "USER", "LOGNAME", "SHELL", "PATH", "PWD", "OLDPWD", "HOSTNAME", "TMPDIR", "SHLVL", "IFS", "UID", "_"} {
		delete(known, name) // the site has its own
	}
	use := regexp.MustCompile(`\$\{?[#!]?([A-Za-z_]\w*)`)
	first := regexp.MustCompile(`\b(?:for|read|unset)((?:\s+[-\w]+)+)`)
	set := regexp.MustCompile(`(?:^|[\s;&|({])([A-Za-z_]\w*)\+?=`) // a value may have what was there before
	for _, line := range commands(script) {
		for _, found := range first.FindAllStringSubmatch(line.text, -1) {
			for name := range strings.FieldsSeq(found[1]) {
				delete(known, name)
			}
		}
		for _, found := range use.FindAllStringSubmatch(line.text, -1) {
			name := found[1]
			if _, ok := known[name]; !ok || strings.HasPrefix(name, "SLURM") || strings.HasPrefix(name, "SWITCHYARD_") {
				continue
			}
			delete(known, name)
			used = append(used, Variable{name, line.place})
		}
		for _, found := range set.FindAllStringSubmatch(line.text, -1) {
			delete(known, found[1])
		}
	}
	return used
}

// otherNumber notes where a script looks for its output file by Slurm's number of the job: %j in the names of
// output files is Switchyard's.
func (w *jobOptions) otherNumber(script Script, r *report) {
	use := regexp.MustCompile(`\$\{?SLURM_JOB_?ID\}?([\w.-]*)`)
	for _, line := range commands(script) {
		for _, found := range use.FindAllStringSubmatch(line.text, -1) {
			if w.endsAs(found[1]) {
				r.notice(line.place, "the number in the names of output files is $SWITCHYARD_JOB_ID, not $SLURM_JOB_ID; use it here, or name the file without %%j")
			}
		}
	}
}

// endsAs says whether behind the job's number an output file's name goes on so. One that has nothing behind it is
// no sign of an output file.
func (w *jobOptions) endsAs(rest string) bool {
	for _, name := range []string{w.stdout, w.stderr, "%j.out"} {
		if _, behind, found := strings.Cut(name, "%j"); found && behind != "" && behind == rest {
			return true
		}
	}
	return false
}
