package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/slurmtext"
	"github.com/switchyard-hpc/switchyard/internal/testbed"
)

// slurmRecord is what a real Slurm 22.05 printed for the command lines of the test.
const slurmRecord = "testdata/slurm-commands.txt"

// slurmJobs are the jobs that both have, by their names: how they are submitted.
var slurmJobs = []struct{ name, options, script string }{
	{"done", "-n 1 -t 10 --mem=100", "true"},
	{"fails", "-n 1 -t 5 --mem=100", "exit 3"},
	{"wide", "-n 2 -c 2 -t 90 --mem=1G --comment=two_words -o out-%j.txt", "true"},
	{"spread", "-N 1 --ntasks-per-node=2 -t 1-2 --mem-per-cpu=10 -e err.txt", "true"},
	{"killed", "-n 1 -t 20 --mem=100", "exec sleep 3000"},
	{"busy", "-n 3 -t 600 --mem=200", "sleep 3000"},
}

// volatile are columns with durations, which no two sites have alike.
const volatile = "Elapsed PendingTime TimeLeft CPUTime CPUTimeRAW ElapsedRaw Reserved ResvCPU"

// slurmLines are the command lines: one for each column of each list, and others that show options, formats and errors.
func slurmLines() (lines []string) {
	compared := func(command, name string) bool {
		return !slices.ContainsFunc(append(strings.Fields(volatile), differing(command)...), func(one string) bool { return strings.EqualFold(one, name) })
	}
	columns := func(command, before string, names []string) {
		for _, name := range names {
			if compared(command, name) {
				lines = append(lines, strings.Replace(before, "NAME", name, 1))
			}
		}
	}
	letters := func(command, before string, names map[string]string) {
		for _, letter := range slices.Sorted(func(yield func(string) bool) {
			for letter := range names {
				if !yield(letter) {
					return
				}
			}
		}) {
			if compared(command, names[letter]) {
				lines = append(lines, strings.ReplaceAll(before, "LETTER", letter))
			}
		}
	}
	byLetter := map[string]string{}
	var names []string
	for _, c := range slurmtext.QueueColumns() {
		if c.Letter != 0 {
			byLetter[string(c.Letter)] = c.Name
		}
		if c.Name != "" {
			names = append(names, c.Name)
		}
	}
	letters("squeue", "squeue -t all -S i -o '%i|%LETTER|'", byLetter)
	letters("squeue", "squeue -h -t all -S i -o '%.14LETTER|%14LETTER' -n wide", map[string]string{"j": "", "T": "", "C": "", "m": "", "l": "", "R": "", "N": ""})
	columns("squeue", "squeue -t all -S i -O 'JobID:20,NAME:200'", names)
	byLetter, names = map[string]string{}, nil
	for _, c := range slurmtext.InfoColumns() {
		if c.Letter != 0 {
			byLetter[string(c.Letter)] = c.Name
		}
		names = append(names, c.Name)
	}
	letters("sinfo", "sinfo -o '%LETTER|%.12LETTER'", byLetter)
	columns("sinfo", "sinfo -O NAME:20", names)
	names = nil
	for _, c := range slurmtext.AccountingColumns() {
		names = append(names, c.Name)
	}
	columns("sacct", "sacct -a -X -P -o jobid,NAME", names)
	columns("sacct", "sacct -P -o jobid,NAME -j wide,killed", names)
	return append(lines, handWritten()...)
}

func handWritten() []string {
	return strings.Split(strings.TrimSpace(`
squeue -h -t all -S i -o '%i %j %T'
squeue -h -t all -S -i -o '%i %j %T'
squeue -h -t all -S j -o '%j %T'
squeue -h -t all -S T,-j -o '%j %T'
squeue -h -t all -S -C,j -o '%j %C'
squeue -h -t all -o %j
squeue -h -t all -S u,i -o '%u %j'
squeue -h -t all -S P,-i -o '%P %j'
squeue -h -t all -S D,C,j -o '%D %C %j'
squeue -h -t all -S l -o '%l %j'
squeue -h -t all -S -l -o '%l %j'
squeue -h -t all -S m,j -o '%m %j'
squeue -h -t all -S N,j -o '%N %j'
squeue -h -t all -S t,j -o '%t %j'
squeue -h -t all -S -t,-j -o '%t %j'
squeue -h -t all -S U,g,V,i -o '%j'
squeue -h -t all -S S,i -o '%j'
squeue -h -t all -S -e,i -o '%j' -n done,fails,wide
squeue -h -t all -S k,j -o '%k %j'
squeue -h -t all -S '!' -n done -o %j
squeue -h -t all -u root -S i -o %j
squeue -h -t all -u root,0 -S i -o %j
squeue -h -t all -u nobody,root -n busy -o %j
squeue -h -t all -u nosuchuser -o %j
squeue -h -t all -u root -A nosuch -o %j
squeue -h -t all -u root -p grid -n done,busy -S j -o '%P %u %j'
squeue -h -t all -p grid,grid,nosuch -S i -o %j
squeue -h -t pd,r -o %j
squeue -h -t PENDING -u root -o %j
squeue -h -t all -w a1 -S i -o %j
squeue -h -t all -w a1 -u nobody -o %j
squeue -t CD,XX
squeue -h -t all,CD -S i -o %j
squeue -h -t R,R,RUNNING -o %j
squeue -h -t suspended,completing,configuring -o %j
squeue -h -t all -j busy,done -u root -t R -o %j
squeue -h -t all -r -S i -o '%i %j'
squeue -u
squeue -t
squeue -S
squeue -A
squeue -p
SQUEUE_ARRAY=1 squeue -h -o %j
SQUEUE_STATES=all SQUEUE_SORT=-j squeue -h -o %j
SQUEUE_STATES=all squeue -h -t R -o %j
squeue --json
squeue -t CD -S i -o '%i %j'
squeue -t cd,f -S i -o '%i %j'
squeue --states=FAILED -o '%j'
squeue -t CG -o '%j'
squeue -t XX
squeue -h -o '%j %t %D %C'
squeue -o '%.18i %.9P %.8j %.8u %.2t %.6D %R'
squeue -h -j busy -o %j
squeue -h -j busy,done -o %j
squeue -h -jbusy -o %j
squeue --jobs=busy -h -o %j
squeue --jobs busy -h -o %j
squeue --jo=busy -h -o %j
squeue -h --job=busy,99 -o %j
squeue -j 99
squeue -j 99 -h
squeue -j abc
squeue -h -u root -o %j
squeue -h -u 0 -o %j
squeue -h --user=root,nobody -o %j
squeue -h --users=nobody -o %j
squeue -h --me -o %j
squeue -h -n done,busy -t all -S i -o %j
squeue -h -n nosuch -t all -o %j
squeue -h --name=busy -o %j
squeue -h -p grid -o %j
squeue -h -p nosuch -o %j
squeue -h --partition=grid,x -o %j
squeue -h -A nosuch -o %j
squeue -h -q nosuch -o %j
squeue -h -w a1 -o %j
squeue -h --nodelist=a1 -o %j
squeue -h -w zz
squeue -h -L nosuch -o %j
squeue -h -r -o %j
squeue -h -a -o %j
squeue -i 0
squeue -i x
squeue -o %i -O JobID
squeue --zzz
squeue -z
squeue -o
squeue --format
squeue --me=1
squeue --no -h
squeue -h -o 'x%j%%%T|'
squeue -h -o '%j %!x %T'
squeue -h -o '%6j|%.6j|%10j|%.10j'
squeue -h -o '%.3j|%3j|%.3D|%3D'
squeue -h -o ''
squeue -O 'Name:10,State:.12'
squeue -h -O 'Name:10+,State:.12-'
squeue -h -O Name,State
squeue -h -O name,STATE,numcpus
squeue -h -O 'Name:3,State:4'
squeue -h -O 'Name,foo'
squeue -h -O ''
squeue -l -h -o %i
SQUEUE_FORMAT='%j|%T' squeue -h
SQUEUE_FORMAT='%j|%T' squeue -h -o %T
SQUEUE_FORMAT2='Name:5,State:10' squeue
SQUEUE_STATES=CD squeue -h -o %j -S i
SQUEUE_USERS=nobody squeue -h -o %j
SQUEUE_NAMES=busy squeue -h -o %j
SQUEUE_PARTITION=nosuch squeue -h -o %j
SQUEUE_ACCOUNT=nosuch squeue -h -o %j
SQUEUE_QOS=nosuch squeue -h -o %j
SQUEUE_SORT=-i squeue -h -t all -o %i
SLURM_TIME_FORMAT=%Y squeue -h -t all -S i -o '%S %V'
SLURM_TIME_FORMAT='at %d.%m.%y' squeue -h -t CD -S i -o '%V'
SLURM_TIME_FORMAT=%j squeue -h -t CD -S i -o '%V %e'
sinfo
sinfo -h
sinfo -N
sinfo -s
sinfo -s -h
sinfo -l -h
sinfo -Nh
sinfo -h -N -o '%N %T %C'
sinfo -h -o '%P %a %l %D %t %N'
sinfo -h -o '%C|%A|%F'
sinfo -h -o '%.10P|%10P|%5D|%.5D'
sinfo -h -O 'partition,nodes:5,cpus'
sinfo -h -O 'PartitionName:10,StateLong:.12,NodeList:0'
sinfo -h -p grid
sinfo -h -p nosuch
sinfo -h -n a1
sinfo -h -n zz
sinfo -h -t mix
sinfo -h -t mixed,idle
sinfo -h -t down
sinfo -h -t alloc -o '%t %D'
sinfo -t xx
sinfo -h -d
sinfo -h -r
sinfo -R
sinfo -h -R
sinfo -T
sinfo -h -e -o '%c %m'
sinfo -h -S N -N -o %N
sinfo -h -a -o %P
sinfo -i 0
sinfo --zzz
sinfo -o
sinfo -O foo
sinfo -h -o '%t %!'
sinfo -h -o 'x%t%%%D'
sinfo --json
SINFO_FORMAT='%t|%D' sinfo
SINFO_FORMAT='%t|%D' sinfo -h -o %D
SINFO_PARTITION=nosuch sinfo -h
sacct -X -n -a -o jobid,jobname,state
sacct -X -n -a -o jobid%20,jobname%-12,state%3
sacct -X -a -o jobname%5,state%15,exitcode
sacct -X -a -o jobname,exitcode,ncpus,nnodes,timelimit
sacct -n -a -b -X
sacct -a -X -p -o jobname,state
sacct -a -X -P -o jobname,state --delimiter=,
sacct -a -X -n -P -o jobname,state,exitcode
sacct -a -n -P -o jobname,state,exitcode,ncpus
sacct -n -P -j done -o jobname,state
sacct -n -P -j done,fails -o jobname,exitcode
sacct -n -P -j done.batch -o jobname,state
sacct -n -P -X -j 99 -o jobname
sacct -j abc
sacct -X -n -P -o jobname --name=done,wide
sacct -X -n -P -o jobname --name=nosuch
sacct -X -n -P -o jobname -u root
sacct -X -n -P -o jobname -u nobody
sacct -X -n -u nosuchuser
sacct -X -n -P -o jobname -r grid
sacct -X -n -P -o jobname -r nosuch
sacct -X -n -P -o jobname -N a1
sacct -X -n -P -o jobname -s F -S now-1hours -E now+1hour
sacct -X -n -P -o jobname -s CD,CA -S now-1hours -E now+1hour
sacct -X -n -P -o jobname -s R
sacct -s XX
sacct -S bogus
sacct -P -o foo
sacct --zzz
sacct foo
sacct -X -n -P -o jobname -s F,CA -S now-1hours -E now
sacct -X -n -P -o jobname -S now-1hours
sacct -X -n -P -o jobname -S now-2hours -E now-1hours
sacct -X -n -P -o jobname -S 2020-01-01
sacct -X -n -P -o jobname -S midnight -E tomorrow
sacct -X -n -P -o jobname,state --state=CANCELLED --starttime=now-1hours --endtime=now
sacct -X -n -P -o jobname -s PD
sacct -j done -s F -n -P -o jobname
sacct -j done,fails,killed -s F,CA -S now-1hours -E now -n -P -X -o jobname,state,exitcode
sacct -j done,fails,killed --parsable2 -o jobname,state,exitcode,derivedexitcode,reason
sacct -j done,fails,wide,spread,killed,busy -n -p -X -o jobname,alloccpus,reqmem,timelimit
sacct -n -P -j done.batch,fails.batch,killed.batch -o jobname,state,exitcode
sacct -n -P -j done.extern -o jobname
sacct -n -P -j done.0 -o jobname
sacct -n -P -j done.extern,fails.batch -o jobname,exitcode
sacct --json -a
sacct --json -j busy
SACCT_FORMAT=jobname,state sacct -X -n -a
SACCT_FORMAT=jobname,state sacct -X -n -a -o exitcode
SLURM_TIME_FORMAT=%Y sacct -X -n -P -a -o submit,start
scontrol show job 99
scontrol show job abc
scontrol show foo
scontrol show
scontrol foo
scontrol show node zz
scontrol show job done
scontrol show job fails
scontrol show job wide
scontrol show job spread
scontrol show job killed
scontrol show job busy
scontrol -o show job wide
scontrol -d show job busy
scontrol -d show job killed
scontrol -o -d show job busy
scontrol --oneliner --details show job fails
scontrol show job=done
scontrol show jobid busy
scontrol show node
scontrol show node a1
scontrol -o show node
scontrol -d show node a1
scontrol show nodes=a1
scontrol show partition
scontrol -o show partition grid
scontrol show partition=grid
scontrol show partitions grid
scontrol show config
scontrol show hostnames 'n[01-03,7],b'
scontrol show hostnames 'n[1-2]-[3-4]'
scontrol show hostlist 'n1,n2,n3,n7'
scontrol show hostlist n03,n01,n02,n10
scontrol show hostlistsorted n10,n9,b1
scontrol show partition zz
scontrol show hostnames 'a[1-3,5],b02'
scontrol show hostnames a1,b7
scontrol show hostnames
scontrol show hostlist a1,a2,a3,b5
scontrol show hostlistsorted a3,a1
scontrol hold
scontrol hold 99
scontrol release 99
scancel
scancel abc
scancel --zzz
scancel done
scancel -u nosuch
scancel -n nosuch
scancel -t PD -n nosuch
scancel -t XX 99
scancel -A nosuch
scancel -Q 99
sbatch nosuch.sh
sbatch --wrap true x.sh
sbatch --zzz
sbatch -o`), "\n")
}

// TestSlurmCommands runs command lines of Slurm at a site and compares what they print, and their exit codes, with what a
// real Slurm has printed for the same jobs. What differs is in docs/slurm-commands.md. With -update it asks a real Slurm.
func TestSlurmCommands(t *testing.T) {
	t.Parallel()
	if *update {
		recordSlurmCommands(t)
	}
	recorded, err := os.ReadFile(slurmRecord)
	if err != nil {
		t.Fatal(err)
	}
	g := startGrid(t, testbed.Machine{Name: "a1", LocalSched: "cpus = 4\nnodes = 1\nmemory = \"4000M\"\nkill_grace = \"1s\""})
	run := func(line string) (string, int) { return g.slurmLine(t, g.Sites[0], line) }
	jobs := submitSlurmJobs(t, run, g.work)
	defer run("scancel " + jobs["busy"])
	same := transcriptOf(run, jobs, slurmLines())
	addSlurmArrays(t, run, g.work, jobs)
	same += transcriptOf(run, jobs, arrayLines())
	if count := comparePrinted(t, same, string(recorded)); count < 200 {
		t.Errorf("only %d command lines", count)
	}
}

// comparePrinted compares what command lines print, each behind "$ ", and returns how many they are.
func comparePrinted(t *testing.T, here, underSlurm string) int {
	t.Helper()
	gots, wants := strings.Split(here, "\n$ "), strings.Split(underSlurm, "\n$ ")
	for i := range max(len(gots), len(wants)) {
		got, want := "nothing", "nothing"
		if i < len(gots) {
			got = gots[i]
		}
		if i < len(wants) {
			want = wants[i]
		}
		if got != want {
			t.Errorf("Switchyard prints\n%s\nand Slurm\n%s", got, want)
		}
	}
	return len(gots)
}

// slurmLine runs a command line in this process.
func (g *grid) slurmLine(t *testing.T, site *testbed.Site, line string) (out string, code int) {
	t.Helper()
	env := map[string]string{"SWITCHYARD_SOCKET": site.Socket}
	words := shellWords(line)
	for len(words) > 0 && strings.Contains(words[0], "=") {
		name, value, _ := strings.Cut(words[0], "=")
		env[name] = value
		words = words[1:]
	}
	empty, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer empty.Close()
	var both bytes.Buffer
	a := &app{stdin: empty, stdout: &both, stderr: &both, now: func() time.Time { return time.Now().In(zoneOfNoon) }, getenv: func(name string) string { return env[name] }}
	code = a.runAs(t.Context(), words[0], words[1:])
	if a.peer != nil {
		a.peer.Close()
	}
	return both.String(), code
}

// zoneOfNoon is the one zone of all commands of a run: it was noon there when the tests began, so that what is submitted and asked for
// is of one day.
var zoneOfNoon = func(began time.Time) *time.Location {
	sinceMidnight := began.Sub(began.Truncate(24 * time.Hour))
	return time.FixedZone("noon", int((12*time.Hour - sinceMidnight).Seconds()))
}(time.Now().UTC())

// shellWords splits a line at blanks outside single quotes.
func shellWords(line string) (words []string) {
	word, quoted, started := "", false, false
	for _, r := range line {
		switch {
		case r == '\'':
			quoted, started = !quoted, true
		case r == ' ' && !quoted:
			if started {
				words = append(words, word)
			}
			word, started = "", false
		default:
			word, started = word+string(r), true
		}
	}
	if started {
		words = append(words, word)
	}
	return words
}

// submitSlurmJobs submits the jobs, waits until all are as they stay, and returns their IDs.
func submitSlurmJobs(t *testing.T, run func(string) (string, int), dir string) map[string]string {
	t.Helper()
	ids := map[string]string{}
	for _, job := range slurmJobs {
		ids[job.name] = submitSlurmJob(t, run, dir, job.name, job.options, job.script)
		wanted := map[string]string{"fails": "FAILED", "killed": "RUNNING", "busy": "RUNNING"}[job.name]
		if wanted == "" {
			wanted = "COMPLETED"
		}
		awaitSlurmState(t, run, ids[job.name], wanted)
		if job.name == "killed" {
			run("scancel " + ids[job.name])
			awaitSlurmState(t, run, ids[job.name], "CANCELLED")
		}
	}
	return ids
}

// submitSlurmJob submits a job and returns its ID.
func submitSlurmJob(t *testing.T, run func(string) (string, int), dir, name, options, script string) string {
	t.Helper()
	file := filepath.Join(dir, name+".sh")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	out, code := run(fmt.Sprintf("sbatch --parsable -J %s -D %s %s %s", name, dir, options, file))
	lines := strings.Fields(out)
	if code != 0 || len(lines) == 0 {
		t.Fatalf("%s: %s (%d)", name, out, code)
	}
	return lines[len(lines)-1]
}

// addSlurmArrays submits an array, waits until its elements have ended, and submits a job and an array that are held.
func addSlurmArrays(t *testing.T, run func(string) (string, int), dir string, jobs map[string]string) {
	t.Helper()
	jobs["arr"] = submitSlurmJob(t, run, dir, "arr", "-a 1-3 -t 5 --mem=100", "exit $((SLURM_ARRAY_TASK_ID % 2))")
	for ctx := patience(t); ; time.Sleep(20 * time.Millisecond) {
		out, _ := run("squeue -h -r -t all -S j,t -n arr -o %T")
		if strings.Join(strings.Fields(out), " ") == "COMPLETED FAILED FAILED" {
			break
		}
		if ctx.Err() != nil {
			t.Fatalf("the array is %s", out)
		}
	}
	jobs["held"] = submitSlurmJob(t, run, dir, "held", "-H -t 5 --mem=100", "true")
	jobs["waits"] = submitSlurmJob(t, run, dir, "waits", "-H -a 1-4%2 -t 5 --mem=100", "true")
}

// arrayLines are command lines about the jobs of [addSlurmArrays].
func arrayLines() []string {
	return strings.Split(strings.TrimSpace(`
sacct -n -X -P -j arr -o jobid,state,exitcode
sacct -n -P -j arr -o jobid,jobname,state,exitcode
sacct -n -P -j arr_2 -o jobid,jobidraw,state
sacct -n -P -X -j arr_1,arr_3 -o jobid,exitcode
sacct -n -P -j arr_2.batch -o jobid,jobidraw,jobname
sacct -n -P -j arr_2.extern -o jobid
sacct -n -P -j arr_9 -o jobid
sacct -n -P -X -j done,arr_1 -o jobid,state
sacct -n -X -P -o jobid,jobname,state --name=arr
sacct -n -X -P -o jobname --name=held
sacct -n -X -P -o jobname --name=held,waits -S now-1hours
sacct -n -P -j held -o jobid,jobidraw,state,reason,start,nodelist,eligible,elapsed
sacct -n -X -P -j waits -o jobid,jobidraw,state
sacct -n -P -j held,waits -o jobname,state
sacct --json -j held
sacct --json -j waits
squeue --json
squeue -h -t all -j arr_2 -o '%i|%F|%K|%t|%j'
squeue -h -t all -S t,K -n arr -o '%i|%K|%t'
squeue -h -t all -j arr_9 -o %i
squeue -h -t PD -S j -o '%j %t %r %R'
squeue -h -t PD -S i -o '%i|%A|%K|%F|%t|%r|%C|%D'
squeue -h -r -t PD -S i -o '%i|%K|%t'
SQUEUE_ARRAY=1 squeue -h -n waits -S i -o %i
squeue -h -j waits_3 -o '%i|%K'
squeue -h -j held -o '%i|%K|%F|%S|%e|%N|%B|%Y'
squeue -h --start -n held -o '%i %S %r'
scontrol show job arr_2
scontrol -o show job arr_1
scontrol show job arr_9
scontrol show job held
scontrol -d show job held
scontrol show job waits
scontrol -o show job waits`), "\n")
}

func awaitSlurmState(t *testing.T, run func(string) (string, int), id, state string) {
	t.Helper()
	for ctx := patience(t); ; time.Sleep(20 * time.Millisecond) {
		out, _ := run("scontrol -o show job " + id)
		if strings.Contains(out, "JobState="+state+" ") {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("job %s is not %s:\n%s", id, state, out)
		}
	}
}

// transcriptOf is what the command lines print, without what differs from run to run.
func transcriptOf(run func(string) (string, int), jobs map[string]string, lines []string) string {
	var out strings.Builder
	for _, line := range lines {
		asked := line
		for name, id := range jobs { // where an ID is to be
			asked = regexp.MustCompile(`((?:-j ?|jobs=|jobs |job=|jo=|,|scancel |show job |show jobid ))`+name+`(,|$| |\.|_)`).ReplaceAllString(asked, "${1}"+id+"${2}")
		}
		text, code := run(asked)
		text = compared(line, text)
		if strings.HasPrefix(line, "SLURM_TIME_FORMAT=") {
			text = regexp.MustCompile(`\d`).ReplaceAllString(text, "9") // of the day of the run
		}
		fmt.Fprintf(&out, "\n$ %s\n%s= %d\n", line, withoutRuns(text, jobs), code)
	}
	return out.String()
}

// withoutRuns replaces IDs, times and short durations.
func withoutRuns(text string, jobs map[string]string) string {
	for name, id := range jobs {
		text = regexp.MustCompile(` *\b`+id+`(?:(_\d+|_%a)\b|(_\[[^\]]*\])|\b)(\.ba\+)? *`).ReplaceAllString(text, " ID-of-"+name+"$1$2 ")
	}
	for _, one := range []struct{ pattern, as string }{
		{`_(4294967294|%a)\b`, "_INDEX"}, // of several elements
		{`\b\d{8,}\b`, "RAW-ID"},
		{`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d`, "TIME"},
		{`\b00:00:\d\d\b`, "00:00:SS"},
		{`\b0:\d\d\b`, "0:SS"},
		{`\b00:0\d:\d\d\b(\s*)$`, "00:0M:SS$1"},
		{`/\S*/([\w-]+\.(?:sh|txt|out))`, "DIR/$1"},
		{`/\S*/(?:work|jobs)\b`, "DIR"},
		{`(?m)[ \t]+$`, ""},
		{`(?m)^ +`, ""},
	} {
		text = regexp.MustCompile(one.pattern).ReplaceAllString(text, one.as)
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}

// recordSlurmCommands asks a real Slurm, with accounting.
func recordSlurmCommands(t *testing.T) {
	t.Helper()
	c := slurms{clusters: 1, nodes: 1, cpus: 4, more: []string{"-f", "-a", "100000"}}.started(t)
	run := func(line string) (string, int) {
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		cmd := c.command(ctx, "sh", "-c", line)
		cmd.Env = append(os.Environ(), "SLURM_CONF="+c.conf("siteA"))
		out, _ := cmd.CombinedOutput()
		return string(out), cmd.ProcessState.ExitCode()
	}
	for _, line := range []string{
		"scontrol create PartitionName=grid Nodes=ALL Default=YES State=UP MaxTime=INFINITE DefaultTime=60",
		"scontrol delete PartitionName=batch",
	} {
		if out, code := run(line); code != 0 {
			t.Fatalf("%s: %s", line, out)
		}
	}
	dir := filepath.Join(c.base, "work")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	jobs := submitSlurmJobs(t, run, dir) // in a federation, in which IDs are long and stand for nothing else
	alone := func() {
		if out, code := run("sacctmgr -i delete federation grid"); code != 0 {
			t.Fatal(out)
		}
		time.Sleep(3 * time.Second) // the accounting hears of ends a little later
	}
	alone()
	recorded := transcriptOf(run, jobs, slurmLines())
	if out, code := run("sacctmgr -i add federation grid clusters=sitea"); code != 0 {
		t.Fatal(out)
	}
	awaitLongIDs(t, run)
	addSlurmArrays(t, run, dir, jobs)
	alone()
	recorded += transcriptOf(run, jobs, arrayLines())
	if version, _ := run("sinfo --version"); !strings.Contains(version, " 22.05") {
		t.Fatalf("the record is that of Slurm 22.05, not of %q", version)
	}
	if err := os.WriteFile(slurmRecord, []byte(recorded), 0o644); err != nil {
		t.Fatal(err)
	}
	run("scancel " + jobs["busy"])
}

// awaitLongIDs waits until the cluster knows that it is in a federation, in which IDs are long.
func awaitLongIDs(t *testing.T, run func(string) (string, int)) {
	t.Helper()
	for ctx := patience(t); ; time.Sleep(100 * time.Millisecond) {
		out, code := run("sbatch --parsable -o /dev/null -t 1 --mem=10 -J federated --wrap true")
		if id := strings.TrimSpace(out); code == 0 && len(strings.Split(id, ";")[0]) >= len("67108865") {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("the cluster is in no federation: %s", out)
		}
	}
}
