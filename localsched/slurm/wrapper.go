package slurm

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/localsched/spool"
)

// exitLost is the exit code of a wrapper that was not the first. A wrapper that
// was ends with the script's code and has written it down.
const exitLost = 76

// wrapper is what Slurm gets: so little that no #SBATCH line of the user's is in
// it, nor anything that is secret.
func wrapper(dir string) string {
	return "#!/bin/sh\n# Made by Switchyard.\nexec /bin/sh " + quote(filepath.Join(dir, launchFile)) + "\n"
}

// launch is the script in a job's folder that claims the job and runs it. The
// claim is the link started, which one alone can make, whatever Slurm repeats.
func launch(dir string, record spool.Job) string {
	sub := record.Submission
	out := record.Outputs(dir)
	stdout, stderr := orNull(out.Stdout), orNull(out.Stderr)
	words := slices.Concat(
		[]string{"env", "-u", "SLURM_EXPORT_ENV", "-u", "SLURM_GET_USER_ENV", "--"},
		environment(dir, record), []string{filepath.Join(dir, spool.ScriptFile)}, sub.Payload.Args,
	)
	for i, word := range words {
		words[i] = quote(word)
	}
	return strings.NewReplacer(
		"@TAG@", sub.Tag.String(),
		"@CLAIM@", quote(filepath.Join(dir, claimDir)),
		"@LOST@", strconv.Itoa(exitLost),
		"@WORK@", quote(record.WorkFolder(dir)),
		"@STDOUT@", quote(stdout),
		"@STDERR@", redirectStderr(stdout, stderr),
		"@COMMAND@", strings.Join(words, " \\\n\t\t"),
	).Replace(launchText)
}

const launchText = `#!/bin/sh
# Made by Switchyard for job @TAG@.
lost() { echo "switchyard: job @TAG@: $1" >&2; exit @LOST@; }
now() { date +%s%3N; }
umask 077
PATH=${PATH:-/usr/local/bin:/usr/bin:/bin}
export PATH
cd -- @CLAIM@ || lost 'the spool cannot be reached from this node, or the job is forgotten'

# Of all that ever try, one makes the link started.
node=$(uname -n)
me="$SLURM_JOB_ID ${SLURM_RESTART_COUNT:-0} $node $$ $(now)"
mine=.$SLURM_JOB_ID.$node.$$
printf '%s\n' "$me" >"$mine" || lost 'cannot write to the spool'
sync "$mine"
ln "$mine" started 2>/dev/null
rm -f "$mine"
read -r first <started || lost 'cannot claim it in the spool'
[ "$first" = "$me" ] || lost "not started, because it was started or taken back before: $first"
sync .

# Slurm's signals go to the script as well, and how that ends is what counts.
trap : HUP INT QUIT TERM USR1 USR2
(
	exec 2>trouble
	umask 022
	cd -- @WORK@ || exit 126
	exec >@STDOUT@ || exit 126
	exec 2>@STDERR@ || exit 126
	exec @COMMAND@
)
code=$?
{ printf '%s %s\n' "$code" "$(now)"; times; } >.exit && sync .exit
mv -f .exit exit && sync .
exit "$code"
`

func redirectStderr(stdout, stderr string) string {
	if stdout == stderr {
		return "&1"
	}
	return quote(stderr)
}

// quote makes one word of a text for any POSIX shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// orNull is where output goes that is to go nowhere.
func orNull(path string) string {
	if path == "" {
		return "/dev/null"
	}
	return path
}

// environment is what a job's environment has beside what Slurm and the site give
// it: what was submitted, but for Slurm's own names, and over it what every job is
// given.
func environment(dir string, job spool.Job) []string {
	submitted := slices.DeleteFunc(slices.Clone(job.Submission.Payload.Env), func(v string) bool {
		return strings.HasPrefix(v, "SLURM")
	})
	return spool.Over(submitted, job.Given(dir))
}
