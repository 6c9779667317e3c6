package batchscript_test

import (
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/protocol"
	"github.com/switchyard-hpc/switchyard/protocol/protocoltest"
)

func origin() batchscript.Origin {
	return batchscript.Origin{User: "ada", Host: "login1", Dir: "/home/ada", Env: []string{"B=2", "A=1", "PATH=/bin"}, Shell: &protocol.Shell{
		Host: "login1", Umask: 0o27, Limits: []protocol.ResourceLimit{{Name: "CORE"}, {Name: "NOFILE", Soft: 512}, {Name: "STACK", Soft: 8 << 20}},
	}}
}

func script(lines ...string) batchscript.Script {
	text := "#!/bin/sh\n" + strings.Join(lines, "\n") + "\n"
	return batchscript.Script{Name: "job.sh", Data: []byte(text)}
}

// read is Read without problems.
func read(t *testing.T, s batchscript.Script, settings ...batchscript.Setting) (batchscript.Job, []string) {
	t.Helper()
	batch, notices, err := batchscript.Read(s, settings, origin())
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	if len(batch.Jobs) != 1 {
		t.Fatalf("%d jobs", len(batch.Jobs))
	}
	return batch.Jobs[0], notices
}

func problemsOf(t *testing.T, s batchscript.Script, settings ...batchscript.Setting) []string {
	t.Helper()
	_, _, err := batchscript.Read(s, settings, origin())
	if err == nil {
		t.Fatal("Read found nothing wrong")
	}
	var list *batchscript.Error
	if !errors.As(err, &list) {
		t.Fatalf("Read returned a %T", err)
	}
	if got := len(strings.Split(err.Error(), "\n")); got != len(list.List) {
		t.Errorf("%d problems on %d lines", len(list.List), got)
	}
	return strings.Split(err.Error(), "\n")
}

func TestDefaultsAreThoseOfASmallJob(t *testing.T) {
	t.Parallel()
	job, notices := read(t, script("echo hi"))
	if len(notices) != 0 {
		t.Errorf("notices: %q", notices)
	}
	want := protocol.Job{
		Spec: protocol.Spec{Request: protocol.Request{CPUs: 1, WallTime: protocol.Hour}, Name: "job.sh"},
		Payload: &protocol.Payload{
			WorkDir: "/home/ada", Stdout: "/home/ada/switchyard-%j.out", Stderr: "/home/ada/switchyard-%j.out",
		},
	}
	if job.Spec.Name != want.Spec.Name || job.Spec.CPUs != want.Spec.CPUs || job.Spec.Nodes != 0 || job.Spec.MemoryMB != 0 ||
		job.Spec.WallTime != want.Spec.WallTime || job.Payload.WorkDir != want.Payload.WorkDir ||
		job.Payload.Stdout != want.Payload.Stdout || job.Payload.Stderr != want.Payload.Stderr || job.Spec.Requeue {
		t.Errorf("got %+v", job)
	}
	if !slices.Equal(job.Payload.Env, []string{"A=1", "B=2", "PATH=/bin"}) {
		t.Errorf("Env is %q", job.Payload.Env)
	}
	if string(job.Payload.Script) != "#!/bin/sh\necho hi\n" {
		t.Errorf("Script is %q", job.Payload.Script)
	}
}

// TestEveryFieldHasAnOption: what a job's description has, an option can say.
func TestEveryFieldHasAnOption(t *testing.T) {
	t.Parallel()
	job, _ := read(t, script(
		"#SWITCHYARD --job-name=a --nodes=2 --ntasks=4 --ntasks-per-node=2 --cpus-per-task=3 --mem=5 --time=6 --time-min=2 --sites=aurora --nice=3 --requeue",
		"#SWITCHYARD --power-share=80% --stage-in-size=7 --stage-out-size=8 --licenses=ansys --account=d --partition=e --qos=urgent --export-remote=A --comment=b --container=c --gres=gpu:1 --constraint=c --exclusive",
		"#SWITCHYARD --input=d --open-mode=append --stage-out=e,/home/ada/f",
	))
	signaled, _ := read(t, script("#SWITCHYARD --signal=RB:USR1@9")) // not in a container
	job.Payload.LimitSignal = signaled.Payload.LimitSignal
	job.Spec.Traceparent = "of the environment" // as TestTraceparentOfTheEnvironment checks
	if unset := protocoltest.Unset(job.Spec); !slices.Equal(unset, protocoltest.Unset(described())) {
		t.Errorf("no option sets %q", unset)
	}
	byCPU, _ := read(t, script("#SWITCHYARD --mem-per-cpu=5"))
	byGPU, _ := read(t, script("#SWITCHYARD --gpus-per-node=1 --cpus-per-gpu=2 --mem-per-gpu=3"))
	l := &job.Spec.Layout
	l.MemoryPerCPU, l.MemoryPerGPU = byCPU.Spec.Layout.MemoryPerCPU, byGPU.Spec.Layout.MemoryPerGPU
	l.CPUsPerGPU, l.GPUsPerNode = byGPU.Spec.Layout.CPUsPerGPU, byGPU.Spec.Layout.GPUsPerNode
	if unset := append(protocoltest.Unset(job.Spec.Layout), protocoltest.Unset(*job.Payload)...); !slices.Equal(unset, []string{"Args"}) {
		t.Errorf("no option sets %q", unset)
	}
}

// TestPropagate: of the limits of the shell those go with the job that --propagate names, and all without it; its umask
// and its host in any case.
func TestPropagate(t *testing.T) {
	t.Parallel()
	for option, want := range map[string]string{
		"": "CORE NOFILE STACK", "--propagate": "CORE NOFILE STACK", "--propagate=all": "CORE NOFILE STACK", "--propagate=NONE": "",
		"--propagate=STACK,core": "CORE STACK", "--propagate=RLIMIT_NOFILE,AS": "NOFILE",
	} {
		job, _ := read(t, script("#SBATCH "+option))
		var names []string
		for _, one := range job.Payload.Shell.Limits {
			names = append(names, one.Name)
		}
		if got := strings.Join(names, " "); got != want || job.Payload.Shell.Umask != 0o27 || job.Payload.Shell.Host != "login1" {
			t.Errorf("%q: got %q, %+v; want %q", option, got, job.Payload.Shell, want)
		}
	}
}

// described is all that a user says of a job.
func described() protocol.Spec {
	spec := protocoltest.Full[protocol.Spec]()
	return spec.Described()
}

func TestDirectives(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		lines []string
		got   func(batchscript.Job) any
		want  any
	}{
		"long with equals": {[]string{"#SBATCH --ntasks=4"}, cpus, 4},
		"long with space":  {[]string{"#SBATCH --ntasks 4"}, cpus, 4},
		"short with space": {[]string{"#SBATCH -n 4"}, cpus, 4},
		"short attached":   {[]string{"#SBATCH -n4"}, cpus, 4},
		"several":          {[]string{"#SBATCH -n 4 -c 2 --time=5"}, cpus, 8},
		"tab":              {[]string{"#SBATCH\t-n\t4"}, cpus, 4},
		"trailing comment": {[]string{"#SBATCH -n 4 # not -n 5"}, cpus, 4},
		"hash in a word":   {[]string{"#SBATCH -J a#b"}, name, "a#b"},
		"double quotes":    {[]string{`#SBATCH --job-name="my job"`}, name, "my job"},
		"single quotes":    {[]string{`#SBATCH -J 'a "b" \'`}, name, `a "b" \`},
		"backslash":        {[]string{`#SBATCH -J my\ job`}, name, "my job"},
		"the last counts":  {[]string{"#SBATCH -n 4", "#SBATCH -n 5"}, cpus, 5},
		"own beats slurm":  {[]string{"#SWITCHYARD -n 4", "#SBATCH -n 5"}, cpus, 4},
		"after a comment":  {[]string{"# hello", "", "#SBATCH -n 4"}, cpus, 4},
		"switched off":     {[]string{"##SBATCH -n 4", "# SBATCH -n 4", "#SBATCHX -n 4"}, cpus, 1},
		"empty":            {[]string{"#SBATCH"}, cpus, 1},
		"nodes by default": {[]string{"#SBATCH -N 2"}, cpus, 2},
		"node range":       {[]string{"#SBATCH -N 2-4"}, nodes, 2},
		"per node":         {[]string{"#SBATCH -N 2 --ntasks-per-node=3"}, cpus, 6},
		"mem":              {[]string{"#SBATCH --mem=4G"}, memory, int64(4096)},
		"mem per cpu":      {[]string{"#SBATCH --mem-per-cpu=1G -n 4 -N 2"}, memory, int64(2048)},
		"mem, own mark":    {[]string{"#SWITCHYARD --mem=5", "#SBATCH --mem-per-cpu=1G"}, memory, int64(5)},
		"requeue":          {[]string{"#SBATCH --requeue"}, requeue, true},
		"no requeue":       {[]string{"#SBATCH --requeue --no-requeue"}, requeue, false},
		"chdir":            {[]string{"#SBATCH -D /data"}, stdout, "/data/switchyard-%j.out"},
		"relative chdir":   {[]string{"#SBATCH -D run/one"}, stdout, "/home/ada/run/one/switchyard-%j.out"},
		"chdir with %":     {[]string{"#SBATCH -D /100%"}, stdout, "/100%%/switchyard-%j.out"},
		"output":           {[]string{"#SBATCH -o out/%x.%j.%u.%N.log -J t"}, stdout, "/home/ada/out/t.%j.ada.login1.log"},
		"error follows":    {[]string{"#SBATCH -o o.txt"}, stderr, "/home/ada/o.txt"},
		"error alone":      {[]string{"#SBATCH -e e.txt"}, stdout, "/home/ada/switchyard-%j.out"},
		"error of its own": {[]string{"#SBATCH -e e.txt"}, stderr, "/home/ada/e.txt"},
		"per cent":         {[]string{"#SBATCH -o %%j%A.%5j.%a"}, stdout, "/home/ada/%%j%A.%j.4294967294"},
		"name with %":      {[]string{"#SBATCH -J 50%j -o %x"}, stdout, "/home/ada/50%%j"},
		"name with slash":  {[]string{"#SBATCH -J ../x -o %x"}, stdout, "/home/ada/.._x"},
		"comment":          {[]string{`#SBATCH --comment="weekly run; a=b"`}, comment, "weekly run; a=b"},
		"sites":            {[]string{"#SWITCHYARD --sites=aurora,cygnus"}, sites, "aurora cygnus"},
		"power":            {[]string{"#SWITCHYARD --power-share=80%"}, power, 800_000},
		"power, finely":    {[]string{"#SWITCHYARD --power-share=112.5%"}, power, 1_125_000},
		"power, usual":     {[]string{"#SWITCHYARD --sites=aurora"}, power, 0},
		"data":             {[]string{"#SWITCHYARD --stage-in-size=10GB"}, data, int64(10 << 30)},
		"data in MB":       {[]string{"#SWITCHYARD --stage-in-size=3"}, data, int64(3 << 20)},
		"after a command":  {[]string{"true", "#SBATCH -n 4"}, cpus, 1},
		"wait":             {[]string{"#SBATCH -W --parsable --test-only"}, words, [3]bool{true, true, true}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job, _ := read(t, script(c.lines...))
			if got := c.got(job); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func cpus(j batchscript.Job) any    { return j.Spec.CPUs }
func nodes(j batchscript.Job) any   { return j.Spec.Nodes }
func name(j batchscript.Job) any    { return j.Spec.Name }
func memory(j batchscript.Job) any  { return j.Spec.MemoryMB }
func requeue(j batchscript.Job) any { return j.Spec.Requeue }
func power(j batchscript.Job) any   { return j.Spec.Power }
func data(j batchscript.Job) any    { return j.Spec.Data }
func stdout(j batchscript.Job) any  { return j.Payload.Stdout }
func stderr(j batchscript.Job) any  { return j.Payload.Stderr }
func words(j batchscript.Job) any   { return [3]bool{j.Wait, j.Parsable, j.TestOnly} }
func comment(j batchscript.Job) any { return j.Spec.Comment }
func sites(j batchscript.Job) any {
	var names []string
	for _, s := range j.Spec.Sites {
		names = append(names, string(s))
	}
	return strings.Join(names, " ")
}

func TestTheCommandLineBeatsAllDirectives(t *testing.T) {
	t.Parallel()
	job, _ := read(t, script("#SBATCH -n 2", "#SWITCHYARD -n 3"), batchscript.Setting{Long: "ntasks", Value: "4"})
	if job.Spec.CPUs != 4 {
		t.Errorf("CPUs = %d, want 4", job.Spec.CPUs)
	}
}

func TestExport(t *testing.T) {
	t.Parallel()
	cases := map[string][]string{
		"ALL":           {"A=1", "B=2", "PATH=/bin"},
		"NONE":          {"SLURM_EXPORT_ENV=NONE"}, // which srun in the job reads, as all that are without ALL
		"A":             {"A=1", "SLURM_EXPORT_ENV=A"},
		"A,UNSET":       {"A=1", "SLURM_EXPORT_ENV=A,UNSET"},
		"C=3,A":         {"A=1", "C=3", "SLURM_EXPORT_ENV=C=3,A"},
		"ALL,A=9":       {"A=9", "B=2", "PATH=/bin"},
		"A=9,ALL":       {"A=9", "B=2", "PATH=/bin"},
		"C='1,2',D=":    {"C=1,2", "D=", "SLURM_EXPORT_ENV=C='1,2',D="},
		"ALL,":          {"A=1", "B=2", "PATH=/bin"},
		"EMPTY=,X=a=b,": {"EMPTY=", "SLURM_EXPORT_ENV=EMPTY=,X=a=b,", "X=a=b"},
	}
	for export, want := range cases {
		t.Run(export, func(t *testing.T) {
			t.Parallel()
			job, _ := read(t, script(), batchscript.Setting{Long: "export", Value: export})
			if !slices.Equal(job.Payload.Env, want) {
				t.Errorf("got %q, want %q", job.Payload.Env, want)
			}
		})
	}
}

// What may leave the site: nothing by itself, what --export names, and all only when that
// is asked for. --export-remote beats --export in this.
func TestExportRemote(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		export, remote string
		want           protocol.Export
		env, notices   int
	}{
		{"", "", protocol.Export{}, 3, 0},
		{"NONE", "", protocol.Export{}, 1, 0},
		{"A,B=c", "", protocol.Export{Names: []string{"A", "B"}}, 3, 0},
		{"ALL", "", protocol.Export{All: true}, 3, 1},
		{"ALL,BAR=baz", "", protocol.Export{All: true, Names: []string{"BAR"}}, 4, 1},
		{"", "A,B", protocol.Export{Names: []string{"A", "B"}}, 3, 0},
		{"", "ALL", protocol.Export{All: true}, 3, 1},
		{"ALL,BAR=baz", "A", protocol.Export{Names: []string{"BAR", "A"}}, 4, 0},
	} {
		t.Run(c.export+" "+c.remote, func(t *testing.T) {
			t.Parallel()
			var settings []batchscript.Setting
			for long, value := range map[string]string{"export": c.export, "export-remote": c.remote} {
				if value != "" {
					settings = append(settings, batchscript.Setting{Long: long, Value: value})
				}
			}
			job, notices := read(t, script(), settings...)
			if !reflect.DeepEqual(job.Export, c.want) || len(job.Payload.Env) != c.env || len(notices) != c.notices {
				t.Errorf("got %+v with %q and %q", job.Export, job.Payload.Env, notices)
			}
		})
	}
	for value, want := range map[string]string{
		"": "no variable is named", "A=b": `"A=b" has a value`, "NONE": "NONE cannot be asked for", "'A": "not closed",
	} {
		got := problemsOf(t, script(), batchscript.Setting{Long: "export-remote", Value: value})
		if len(got) != 1 || !strings.HasPrefix(got[0], "command line: --export-remote: ") || !strings.Contains(got[0], want) {
			t.Errorf("%q: %q", value, got)
		}
	}
}

// Names of which people do not see every character are refused with its number, those that
// a script's file gives its job, too.
func TestNamesThatCannotBeSeen(t *testing.T) {
	t.Parallel()
	got := problemsOf(t, script("#SWITCHYARD -J 'pay\u202eroll' -L 'mesh\u200b'"))
	want := []string{
		`job.sh:2: --job-name: the job's name "pay\u202eroll": the character U+202E (byte 4) cannot be seen`,
		`job.sh:2: --licenses: "mesh\u200b": a name or type "mesh\u200b" has '\u200b'; use letters`,
	}
	if len(got) != len(want) || !strings.HasPrefix(got[0], want[0]) || !strings.HasPrefix(got[1], want[1]) {
		t.Errorf("got %q", got)
	}
	got = problemsOf(t, batchscript.Script{Name: "jobs/a\u2066.sh", Data: []byte("#!/bin/sh\n")})
	if len(got) != 1 || !strings.HasPrefix(got[0], `jobs/a\u2066.sh: the job would have the script's name: the character U+2066`) {
		t.Errorf("a script's name: %q", got)
	}
}

func TestWhatMeansNothingHereIsNoticed(t *testing.T) {
	t.Parallel()
	job, notices := read(t, script("#SBATCH -p debug -n 2 --profile all -s -t 5", "true", "#SBATCH -n 9"),
		batchscript.Setting{Long: "wckey", Value: "high"})
	want := []string{
		"job.sh:4: #SBATCH after the first command has no effect; move it before the first command",
		"job.sh:2: --profile has no effect: ",
		"job.sh:2: --oversubscribe has no effect: ",
		"command line: --wckey has no effect: ",
	}
	if !slices.EqualFunc(notices, want, strings.HasPrefix) {
		t.Errorf("got %q", notices)
	}
	if job.Spec.CPUs != 2 || job.Spec.WallTime != 5*protocol.Minute {
		t.Errorf("the options around were lost: %+v", job)
	}
}

func TestEveryProblemIsReportedAtOnce(t *testing.T) {
	t.Parallel()
	got := problemsOf(t, script(
		"#SBATCH --ntask=2", "#SBATCH -n none -t 1:2:3:4", "#SBATCH --mem", "#SBATCH -J 'open",
		"#SWITCHYARD --sites=Aurora", "#SBATCH --wait=3", "#SBATCH stray", "#SBATCH -Z 3", "#SBATCH -o %q",
		"#SBATCH --array=3-1", `#SBATCH -J x\`, "#SBATCH --nodes=4-2", "#SBATCH -Wx"),
		batchscript.Setting{Long: "dependency", Value: "afterok:1"}, batchscript.Setting{Long: "export", Value: "A,NONE"})
	want := []string{
		"job.sh:5: the quote ' is not closed",
		"job.sh:12: the backslash at the end of the line escapes nothing",
		"job.sh:2: unknown option --ntask; did you mean --ntasks?",
		`job.sh:3: --ntasks: "none" is not a whole number`,
		`job.sh:3: --time: "1:2:3:4" is not a time; write min, min:s,`,
		"job.sh:4: --mem needs a value: --mem=size",
		"job.sh:7: option --wait takes no value; write --wait",
		`job.sh:8: "stray" is not an option`,
		"job.sh:9: unknown option -Z",
		`job.sh:11: --array: indexes "3-1": "3-1" ends before it begins`,
		`job.sh:13: --nodes: "4-2" ends below its beginning`,
		"job.sh:14: option -W takes no value",
		`job.sh:6: --sites: site name "Aurora" must begin with a lower case letter`,
		"command line: --dependency: job id 1 names no site",
		"job.sh: --export: NONE stands alone",
		`job.sh: the file name "%q": %q is unknown; use %j,`,
	}
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Errorf("missing: %s", want[i])
		case i >= len(want):
			t.Errorf("unexpected: %s", got[i])
		case !strings.HasPrefix(got[i], want[i]):
			t.Errorf("got  %s\nwant %s", got[i], want[i])
		}
	}
}

func TestOldNames(t *testing.T) {
	t.Parallel()
	got := problemsOf(t, script("#SWITCHYARD --alpha=1"), batchscript.Setting{Long: "data", Value: "1G"})
	want := []string{
		"job.sh:2: unknown option --alpha; it was renamed to --compute-weight",
		"command line: unknown option --data; it was renamed to --stage-in-size",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWhatIsNoBatchScript(t *testing.T) {
	t.Parallel()
	cases := map[string]string{
		"":                                "job.sh: the batch script is empty",
		" \n\t\n":                         "job.sh: the batch script contains only white space",
		"echo hi\n":                       "job.sh: this does not look like a batch script. The first line must start with #!",
		"\x7fELF\x00\x01":                 "job.sh: the batch script contains NUL bytes",
		"#!/bin/sh\r\necho\r\n":           "job.sh: the batch script contains DOS line breaks (\\r\\n); convert it with dos2unix",
		"#!" + strings.Repeat("x", 4<<20): "job.sh: the batch script has 4194306 bytes, the limit is 4194304",
	}
	for text, want := range cases {
		got := problemsOf(t, batchscript.Script{Name: "job.sh", Data: []byte(text)})
		if len(got) != 1 || !strings.HasPrefix(got[0], want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestParseTime(t *testing.T) {
	t.Parallel()
	const s, m, h, d = protocol.Second, protocol.Minute, protocol.Hour, protocol.Day
	good := map[string]protocol.Duration{
		"5": 5 * m, "90": 90 * m, "5:30": 5*m + 30*s, "1:02:03": h + 2*m + 3*s, "0:0:1": s, "2-0": 2 * d,
		"1-12": d + 12*h, "1-2:3": d + 2*h + 3*m, "1-2:3:4": d + 2*h + 3*m + 4*s, "0:90": 90 * s, "100:00:00": 100 * h,
		"1h30m": 90 * m, "2d": 2 * d, "90s": 90 * s,
	}
	for text, want := range good {
		if got, err := batchscript.ParseTime(text); err != nil || got != want {
			t.Errorf("%s: got %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "0", "-1", "UNLIMITED", "infinite", "x", "1:", ":1", "1:2:3:4", "1-", "-", "1-2:3:4:5", "+1", "1.5", "0:00",
		"1-2-3", "99999999999", "0h", "-1h", "1h 30m", "200000d", " 1",
	} {
		if got, err := batchscript.ParseTime(text); err == nil {
			t.Errorf("%q was taken as %v", text, got)
		}
	}
	if _, err := batchscript.ParseTime("40000d"); !errors.Is(err, settings.ErrTooLong) {
		t.Errorf("40000d: %v; it has the right form", err)
	}
}

func TestParseMemory(t *testing.T) {
	t.Parallel()
	good := map[string]int64{
		"0": 0, "100": 100, "100M": 100, "100m": 100, "1K": 1, "1024K": 1, "1025k": 2, "2G": 2048, "2GB": 2048, "1T": 1 << 20,
	}
	for text, want := range good {
		if got, err := batchscript.ParseMemory(text); err != nil || got != want {
			t.Errorf("%s: got %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "G", "-1", "1.5G", "4X", "4GiB", "99999999999999999", "9999999999999T", "B"} {
		if got, err := batchscript.ParseMemory(text); err == nil {
			t.Errorf("%q was taken as %v", text, got)
		}
	}
}

// Every option that people are told about can be given by its long and its
// short name, and no two share one.
func TestOptionsAreDistinct(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, option := range batchscript.Options() {
		for _, name := range []string{option.Long, option.Short} {
			if name != "" && seen[name] {
				t.Errorf("%s is there twice", name)
			}
			seen[name] = true
		}
		if len(option.Short) > 1 {
			t.Errorf("--%s has the short name %q", option.Long, option.Short)
		}
	}
}

func TestPowerAndDataAreChecked(t *testing.T) {
	t.Parallel()
	for long, values := range map[string][]string{
		"power-share":   {"", "%", "0%", "80", "0.8", "-5%", "+5%", "1e2%", "10001%", "1.23456%", "99999999999999999999%", "8 0%", "1.2.3%"},
		"stage-in-size": {"", "-1", "10X", "1.5G", "99999999999T", "9000000T"},
	} {
		for _, value := range values {
			got := problemsOf(t, script(), batchscript.Setting{Long: long, Value: value})
			if len(got) != 1 || !strings.HasPrefix(got[0], "command line: --"+long+": ") {
				t.Errorf("--%s=%q: %q", long, value, got)
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("#!/bin/sh\n#SBATCH -n 4 --mem=3G -t 1-2:3:4 -o %x.%j\necho\n", "export", "ALL,A='1,2'")
	f.Add("#!/bin/sh\n#SWITCHYARD -J \"a b\" # c\n#SBATCH -N 1-2 -D x\n", "mem-per-cpu", "9999999T")
	f.Add("#!/bin/sh\n#SBATCH -N 1000000 --ntasks-per-node=1000000 -c1000000\n", "time", "0:00:01")
	f.Add("#!/bin/sh\n#SWITCHYARD --power-share=99.5%\n", "stage-in-size", "4T")
	f.Add("#!/bin/sh\n#SBATCH -\xff \\\n", "sites", "a,b")
	f.Add("#!/bin/sh\n#SWITCHYARD --cpus=4,8 -t 2h,1h --objective=green\n#SWITCHYARD component a -L x:2,y\n#SWITCHYARD component b\n", "wait-weight", "0.5")
	f.Add("#!/bin/sh\n#SWITCHYARD --operations=3.2e12 --words-sent 1e6 --scaling=all-to-all@8 --estimate=50m\n", "max-cost", "10.50 CHF")
	f.Add("#!/bin/sh\n#SWITCHYARD --compute-weight=0 --wait-weight=0 --energy-weight=0 --data-weight=0 --max-time=1h\n", "qos", "urgent")
	f.Fuzz(func(t *testing.T, text, long, value string) {
		s := batchscript.Script{Name: "job.sh", Data: []byte(text)}
		batch, notices, err := batchscript.Read(s, []batchscript.Setting{{Long: long, Value: value}}, origin())
		for _, notice := range notices {
			if strings.Contains(notice, "\n") {
				t.Errorf("a notice of several lines: %q", notice)
			}
		}
		if err != nil {
			return
		}
		for i := range batch.Jobs {
			checkJob(t, &batch.Jobs[i])
		}
		checkOptions(t, batch)
	})
}

func checkJob(t *testing.T, job *batchscript.Job) {
	t.Helper()
	if job.Spec.CPUs < 1 || job.Spec.Nodes < 0 || job.Spec.MemoryMB < 0 || job.Spec.WallTime <= 0 || job.Spec.Name == "" ||
		job.Spec.Power < 0 || job.Spec.Power > protocol.MaxPower || job.Spec.Data < 0 || job.Spec.DataOut < 0 {
		t.Errorf("an impossible job: %+v", job)
	}
	for _, path := range []string{job.Payload.WorkDir, job.Payload.Stdout, job.Payload.Stderr} {
		if !filepath.IsAbs(path) || filepath.Clean(path) != path {
			t.Errorf("the path %q is not absolute and clean", path)
		}
	}
	for _, pair := range job.Payload.Env {
		if strings.IndexByte(pair, '=') < 1 || strings.IndexByte(pair, 0) >= 0 {
			t.Errorf("a broken variable: %q", pair)
		}
	}
	before := job.Spec.CPUs
	for _, s := range job.Component.Shapes {
		if s.CPUs <= before || s.WallTime <= 0 || s.Estimate < 0 || s.Estimate > s.WallTime {
			t.Errorf("an impossible shape: %+v", s)
		}
		before = s.CPUs
	}
	b := job.Component.Behavior
	if min(b.Mflop, b.Mwords, b.Sent, b.Messages, int64(b.CPUs)) < 0 || (b.Scaling == protocol.Multicast && b.CPUs < 2) {
		t.Errorf("an impossible behavior: %+v", b)
	}
}

// checkOptions checks what the peer asks of an application.
func checkOptions(t *testing.T, batch batchscript.Batch) {
	t.Helper()
	a := batch.Application
	if a == nil {
		if len(batch.Jobs) != 1 {
			t.Errorf("%d jobs without an application", len(batch.Jobs))
		}
		return
	}
	if a.Beta < 0 || a.MaxCost < 0 || a.MaxTime <= 0 {
		t.Errorf("impossible wishes: %+v", a)
	}
	for i := range batch.Jobs {
		c := batch.Jobs[i].Component
		if min(c.Alpha, c.Gamma, c.Delta) < 0 || (a.Beta+c.Alpha+c.Gamma+c.Delta == 0) != weightless(batch) {
			t.Errorf("component %d has odd weights: %+v, β %d", i, c, a.Beta)
		}
	}
}

// weightless says whether nobody has named a weight.
func weightless(batch batchscript.Batch) bool {
	sum := batch.Application.Beta
	for i := range batch.Jobs {
		c := batch.Jobs[i].Component
		sum += c.Alpha + c.Gamma + c.Delta
	}
	return sum == 0
}

// FuzzValues: what the parsers of values accept is within bounds, and amounts of memory and times read back as they are printed.
func FuzzValues(f *testing.F) {
	for _, text := range []string{"4G", "1025K", "9223372036854775807K", "2TB", "1-02:03:04", "5:30", "1h30m", "16777215-16777215", "10.50 CHF", "0x1", "RB:SIGUSR1@65535", ":10@"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if mb, err := batchscript.ParseMemory(text); err == nil {
			if again, err := batchscript.ParseMemory(strconv.FormatInt(mb, 10) + "M"); err != nil || again != mb || mb < 0 {
				t.Errorf("%q is %d MB, which reads back as %d, %v", text, mb, again, err)
			}
		}
		if limit, err := batchscript.ParseTime(text); err == nil {
			if again, err := batchscript.ParseTime(strconv.FormatInt(int64(limit), 10) + "ms"); limit <= 0 || limit <= settings.MaxDuration && (err != nil || again != limit) {
				t.Errorf("%q is %d ms, which reads back as %d, %v", text, limit, again, err)
			}
		}
		if signal, err := batchscript.ParseLimitSignal(text); err == nil && (&protocol.Payload{LimitSignal: signal}).Check() != nil {
			t.Errorf("%q is %+v", text, signal)
		}
		if money, err := batchscript.ParseMoney(text); err == nil && (money.Amount < 0 || len(money.Currency)%3 != 0) {
			t.Errorf("%q is %+v", text, money)
		}
	})
}

// TestSubmittedInAJob: what Switchyard says to a job is not said to one that is submitted in it.
func TestSubmittedInAJob(t *testing.T) {
	t.Parallel()
	for _, export := range []string{"ALL", "A,SWITCHYARD_COMPONENT,SWITCHYARD_MHZ"} {
		settings := []batchscript.Setting{{Long: "export", Value: export}}
		batch, _, err := batchscript.Read(batchscript.Script{Name: "job.sh", Data: []byte("#!/bin/sh\n")}, settings, batchscript.Origin{User: "ada", Host: "h", Dir: "/w", Env: []string{
			"A=1", "SLURM_EXPORT_ENV=NONE", "SWITCHYARD_APPLICATION=7", "SWITCHYARD_COMPONENT=solver", "SWITCHYARD_MHZ=1200", "SWITCHYARD_PARTITION=R00",
		}})
		if err != nil {
			t.Fatal(err)
		}
		env := slices.DeleteFunc(batch.Jobs[0].Payload.Env, func(v string) bool { return strings.HasPrefix(v, "SLURM_EXPORT_ENV="+export) })
		if !slices.Equal(env, []string{"A=1"}) {
			t.Errorf("%s: the job is given %q", export, env)
		}
	}
}
