package slurm

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// exitClaimLost is the exit code of a wrapper that was not the first, or that came too late to begin. Any
// other ends with the script's code and has written it down.
const exitClaimLost = 76

// wrapper is what Slurm gets: so little that no #SBATCH line of the user's is in
// it, nor anything that is secret.
func wrapper(dir string) string {
	return "#!/bin/sh\n# Made by Switchyard.\nexec /bin/sh " + quote(filepath.Join(dir, launchFile)) + "\n"
}

// launch is the script in a job's directory that claims the job and runs it. The
// claim is the link started, which one alone can make, whatever Slurm repeats.
//
// The job's environment is part of the script, which only the account may read. As arguments of a
// command all users would see it in ps.
func launch(dir string, record spool.Job) string {
	sub := record.Submission
	out := record.Outputs(dir)
	stdout, stderr := orNull(out.Stdout), orNull(out.Stderr)
	forward, background, await := forwarding(sub.Payload.LimitSignal)
	exported, passed := split(environment(dir, record))
	words := slices.Concat([]string{"--"}, passed, record.Command(dir))
	for i, word := range words {
		words[i] = quote(word)
	}
	return strings.NewReplacer(
		"@TAG@", sub.Tag.String(),
		"@CLAIM@", quote(filepath.Join(dir, claimDir)),
		"@UMASK@", fmt.Sprintf("%#03o", sub.Payload.JobUmask()),
		"@LIMIT@", fileLimit(record.FileLimit()),
		"@LIMITS@", shellLimits(sub.Payload.LimitsAt(sub.Guest)),
		"@LOST@", strconv.Itoa(exitClaimLost),
		"@LATE@", cancelAfter(sub.StartBy),
		"@NEVER@", neverAfter(sub.StartBy, filepath.Join(dir, claimDir)),
		"@WITHDRAWN@", withdrawnBy,
		"@FULL@", fullFile,
		"@FORWARD@", forward,
		"@BACKGROUND@", background,
		"@AWAIT@", await,
		"@WORK@", quote(record.WorkDir(dir)),
		"@STDIN@", input(sub.Payload.Input),
		"@STDOUT@", redirect(out.Append)+quote(stdout),
		"@STDERR@", redirectStderr(stdout, stderr, out.Append),
		"@UNSET@", strings.Join(ownOptions(sub.Payload.AppendOutput), " "),
		"@EXPORT@", exports(exported),
		"@CPUS@", allocated(sub.Spec.Exclusive),
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
env=$(command -v env) || lost 'this node has no command env'
cd -- @CLAIM@ || lost 'the spool cannot be reached from this node, or the job is forgotten'

# Of all that ever try, one makes the link started.
node=$(uname -n)
at=$(now)
me="$SLURM_JOB_ID ${SLURM_RESTART_COUNT:-0} $node $$ $at"
@LATE@
mine=.$SLURM_JOB_ID.$node.$$
printf '%s\n' "$me" >"$mine" || lost 'cannot write to the spool'
sync "$mine"
ln "$mine" started 2>/dev/null
rm -f "$mine"
read -r first <started || lost 'cannot claim it in the spool'
[ "$first" = "$me" ] || lost "not started, because it was started or taken back before: $first"
[ "$me" != @WITHDRAWN@ ] || lost 'not started, because it would not start together with its other parts any more'
: >.@FULL@ # to have another name on a full disk
sync .

# Slurm's signals go to the script as well, and how that ends is what counts. TERM, with which
# Slurm begins to end a job, is noted.
sent=- noted=
trap 'sent=TERM' TERM
trap : HUP INT QUIT USR1 USR2
@FORWARD@
(
	exec 2>trouble
	umask @UMASK@
	@LIMIT@
	cd -- @WORK@ || exit 126
	@STDIN@
	exec @STDOUT@ || exit 126
	exec 2@STDERR@ || exit 126
	@NEVER@
	unset @UNSET@
	@EXPORT@
	@CPUS@
	@LIMITS@
	exec "$env" ${default:-} @COMMAND@
)@BACKGROUND@
code=$?
@AWAIT@
ended=$(now)
# TERM may come here only after the script has ended by it.
until [ "$noted" = "$sent" ]
do
	noted=$sent
	{ printf '%s %s %s\n' "$code" "$ended" "$noted"; times; } >.exit
	[ -s .exit ] && sync .exit
done
if [ -s .exit ]
then mv -f .exit exit && rm -f .@FULL@ && sync .
else mv -f .@FULL@ @FULL@
fi
exit "$code"
`

// ownOptions are the variables by which sbatch tells srun in a job how the job was submitted: here by the
// adapter, and not by its user. The job would append the output of its steps, and write times otherwise.
func ownOptions(appends bool) []string {
	names := []string{"SLURM_EXPORT_ENV", "SLURM_GET_USER_ENV", "SLURM_TIME_FORMAT"}
	if !appends {
		names = append(names, "SLURM_OPEN_MODE")
	}
	return names
}

// cancelAfter has a wrapper withdraw a job, as the adapter does, that must not start as late as
// it would.
func cancelAfter(by protocol.Instant) string {
	if by == 0 {
		return ":"
	}
	return fmt.Sprintf(`[ "$at" -le %d ] || me=%s`, by, withdrawnBy)
}

// neverAfter has a wrapper look at the time again when there is nothing left to wait for before the
// script begins: to claim the job takes as long as the disk and the machine like. That the script has not
// begun is said by a name, which the file that is kept for a full disk takes. The job's own environment is
// not there yet, which may have another PATH.
func neverAfter(by protocol.Instant, claim string) string {
	if by == 0 {
		return ":"
	}
	kept, late := quote(filepath.Join(claim, "."+fullFile)), quote(filepath.Join(claim, lateFile))
	return fmt.Sprintf(`[ "$(now)" -le %d ] || { mv -f %s %s; exit %d; }`, by, kept, late, exitClaimLost)
}

func redirectStderr(stdout, stderr string, behind bool) string {
	if stdout == stderr {
		return ">&1"
	}
	return redirect(behind) + quote(stderr)
}

// redirect is the operator of a shell that writes to a file, behind what is in it or from its beginning.
func redirect(behind bool) string {
	if behind {
		return ">>"
	}
	return ">"
}

// input is the command of a shell that reads from a file what Slurm gives nothing for.
func input(path string) string {
	if path == "" {
		return ":"
	}
	return "exec <" + quote(path) + " || exit 126"
}

// forwarding has a wrapper pass a signal on to the script that Slurm sends to the process of the batch
// script alone, which is the wrapper: it then starts the script in the background, since a shell acts on
// signals only while it waits. As a shell has such a command ignore INT and QUIT, env undoes that where it can.
func forwarding(signal protocol.LimitSignal) (begin, background, await string) {
	if !signal.ScriptOnly {
		return "default=", "", ":"
	}
	note := ""
	if signal.Signal == int(syscall.SIGTERM) {
		note = "sent=TERM; "
	}
	begin = fmt.Sprintf(`script= due= default=$("$env" --default-signal=INT,QUIT echo --default-signal=INT,QUIT 2>/dev/null)
trap '%sdue=yes; [ -z "$script" ] || kill -%d "$script" 2>/dev/null' %d`, note, signal.Signal, signal.Signal)
	await = fmt.Sprintf(`script=$!
[ -z "$due" ] || kill -%d "$script" 2>/dev/null
wait "$script"
code=$?
while [ "$code" -gt 128 ] # by a signal, or because the wait was interrupted
do
	last=$code
	wait "$script"
	code=$?
	[ "$code" -ne 127 ] || code=$last # the shell has no more to say of it
	[ "$code" -ne "$last" ] || kill -0 "$script" 2>/dev/null || break
done`, signal.Signal)
	return begin, " &", await
}

// allocated has a wrapper count the CPUs of a job that has its nodes for itself, of which Slurm alone knows how many those
// have, by a list such as 8(x2),4.
func allocated(exclusive bool) string {
	if !exclusive {
		return ":"
	}
	return `[ -z "$SLURM_JOB_CPUS_PER_NODE" ] || SWITCHYARD_CPUS=$(
		IFS=,
		sum=0
		for part in $SLURM_JOB_CPUS_PER_NODE
		do
			nodes=1
			case $part in (*x*) nodes=${part#*x} nodes=${nodes%?} ;; esac
			sum=$((sum + ${part%%[!0-9]*} * nodes))
		done
		echo "$sum"
	)`
}

// quote makes one word of a text for any POSIX shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// fileLimit is the command that bounds the size of each file that the job writes. POSIX
// counts in blocks of 512 bytes. A limit that is lower already stays.
func fileLimit(bytes int64) string {
	if bytes == 0 {
		return ":"
	}
	const block = 512
	return fmt.Sprintf("ulimit -f %d 2>/dev/null || :", (bytes+block-1)/block)
}

// orNull is where output goes that is to go nowhere.
func orNull(path string) string {
	if path == "" {
		return "/dev/null"
	}
	return path
}

// environment is what a job's environment has beside what Slurm and the site give
// it: what was submitted, and over it what every job is given.
func environment(dir string, job spool.Job) []string {
	return spool.Over(job.Submission.Payload.Env, job.Given(dir, job.Submission.Spec.CPUs))
}

// split parts an environment into what a shell can export and what only env can pass on:
// names that are none to a shell, such as those of exported functions, and those that
// shells keep for themselves.
func split(env []string) (exported, passed []string) {
	for _, v := range env {
		name, _, _ := strings.Cut(v, "=")
		if exportable(name) {
			exported = append(exported, v)
		} else {
			passed = append(passed, v)
		}
	}
	return exported, passed
}

// exportable reports whether every POSIX shell takes a variable of this name, and gives it to
// commands as it is.
func exportable(name string) bool {
	for i, c := range []byte(name) {
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return !strings.HasPrefix(name, "BASH") && !slices.Contains([]string{
		"_", "DIRSTACK", "ENV", "EPOCHREALTIME", "EPOCHSECONDS", "EUID", "FUNCNAME", "GROUPS", "HISTCMD", "IFS", "LINENO",
		"OLDPWD", "OPTARG", "OPTIND", "POSIXLY_CORRECT", "PPID", "PWD", "RANDOM", "SECONDS", "SHELLOPTS", "SHLVL", "SRANDOM", "UID", "default", "env",
	}, name)
}

// exports are the commands of a shell that export an environment.
func exports(env []string) string {
	lines := make([]string, len(env))
	for i, v := range env {
		name, value, _ := strings.Cut(v, "=")
		lines[i] = "export " + name + "=" + quote(value)
	}
	return strings.Join(lines, "\n\t")
}
