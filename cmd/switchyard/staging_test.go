package main

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// stagedDir is a directory with files to travel, in which the account of jobs may write.
func stagedDir(t *testing.T, g *grid, name string, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(g.work, name)
	if err := testbed.MakeShared(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	for one, content := range files {
		path := filepath.Join(dir, one)
		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o600), os.Chmod(path, 0o666), os.Chmod(filepath.Dir(path), 0o777))
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// hasFiles looks at the files of a directory; one that is to have the content "absent" is not to be there.
func hasFiles(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	for name, content := range want {
		got, err := os.ReadFile(filepath.Join(dir, name))
		switch {
		case content == absent && errors.Is(err, fs.ErrNotExist):
		case err != nil || string(got) != content:
			t.Errorf("%s has %d bytes, want %d: %v", name, len(got), len(content), err)
		}
	}
}

const absent = "absent"

// filesTravel: the files that are named go with a job to another site, by patterns and under other names, and
// what is named, or what the job has made or changed, comes back. At its own site the job works in place.
func filesTravel(t *testing.T, g *grid, site *testbed.Site) {
	t.Helper()
	big := strings.Repeat("0123456789abcdef", 3<<14) // three chunks
	const script = "#!/bin/sh\nset -e\nls -Ap\ncat data/*.csv input/model >results/all\nwc -c <big >results/size\nprintf changed >data/b.csv\nprintf made >made\nprintf new >input/model\n"
	for there, seen := range map[string]string{"borealis": "big\ndata/\ninput/\nresults/\n", "aurora": "big\ndata/\ninput/\nmodel\nresults/\nunnamed\n"} {
		dir := stagedDir(t, g, "staged-"+there, map[string]string{
			"data/a.csv": "a\n", "data/b.csv": "b\n", "data/c.txt": "not wanted", "model": "m\n", "big": big, "unnamed": "x", "results/old": "old",
		})
		job := g.until(t, site, g.submit(t, site, script, "--chdir="+dir, "--sites="+there, "-o", "../%x-"+there+".out", "-J", "stages",
			"--stage-in=data/*.csv", "--stage-in=model:input/model", "--stage-in="+filepath.Join(dir, "big")+",results", "--stage-out=results", "--stage-out=."), ended)
		if job.State != protocol.Completed || g.output(t, job) != seen {
			t.Fatalf("at %s: %+v finds %q", there, job, g.output(t, job))
		}
		hasFiles(t, dir, map[string]string{
			"results/all": "a\nb\nm\n", "results/size": "786432\n", "results/old": "old", "data/b.csv": "changed", "made": "made", "data/c.txt": "not wanted",
			"input/model": "new", "model": "new",
		})
	}
}

// directivesNameFiles: what travels can be said in the script; only what is named comes back.
func directivesNameFiles(t *testing.T, g *grid, site *testbed.Site) {
	t.Helper()
	dir := stagedDir(t, g, "directed", map[string]string{"in/a": "a", "in/b": "b"})
	const script = "#!/bin/sh\n#SWITCHYARD --stage-in=in --stage-out=out/*.txt\n#SWITCHYARD --stage-out=in/a\nmkdir out\ncat in/* >out/ab.txt\necho no >out/left.log\necho new >in/a\n"
	job := g.until(t, site, g.submit(t, site, script, "--chdir="+dir, "--sites=borealis", "-o", "/dev/null"), ended)
	if job.State != protocol.Completed {
		t.Fatalf("%+v", job)
	}
	hasFiles(t, dir, map[string]string{"out/ab.txt": "ab", "out/left.log": absent, "in/a": "new\n", "in/b": "b"})
}

// filesCannotTravel: what is missing or too large is refused before the job is taken, and named; a job that has
// not made what is to come back has failed, and so has one whose files change before they have left.
func filesCannotTravel(t *testing.T, g *grid, site *testbed.Site) {
	t.Helper()
	dir := stagedDir(t, g, "lacking", map[string]string{"data/a": "a"})
	for options, want := range map[string]string{
		"--stage-in=data,nothing.dat": "--stage-in=nothing.dat: there is no nothing.dat in " + dir,
		"--stage-in=*.dat":            "--stage-in=*.dat: no file matches it in " + dir,
		"--stage-in=/etc/hostname":    "give it a name there, as in /etc/hostname:hostname",
		"--stage-in=data:data/a":      "there is another data/a in " + dir,
		"--stage-out=a:b":             "files that come back are not renamed",
		"--stage-out=../above":        "leaves the working directory",
		"--stage-in=huge":             "the largest, huge, 100000000 bytes; keep the job at this site with --sites=aurora, or name fewer",
	} {
		if strings.HasSuffix(options, "=huge") {
			if err := os.WriteFile(filepath.Join(dir, "huge"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(filepath.Join(dir, "huge"), 100_000_000); err != nil {
				t.Fatal(err)
			}
		}
		got := g.at(t, site, "#!/bin/sh\ntrue\n", "submit", "--chdir="+dir, options)
		if got.code != 2 || got.stdout != "" || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: %+v", options, got)
		}
	}
	const script = "#!/bin/sh\ntrue\n"
	for options, reported := range map[string]bool{"--stage-in=data": true, "--stage-out=.": false, "--stage-out-size=0": false, "--sites=aurora": false} {
		got := g.at(t, site, script, "submit", "--chdir="+dir, "-o", "/dev/null", "--stage-in=data", options)
		if want := "switchyard: no files are named that come back: at another site (borealis) only the job's output is returned, and what else it writes is deleted"; got.code != 0 || strings.HasPrefix(got.stderr, want) != reported {
			t.Errorf("%s: %+v", options, got)
		}
	}
	job := g.until(t, site, g.submit(t, site, script, "--chdir="+dir, "--sites=borealis", "-o", "/dev/null", "--stage-out=absent"), ended)
	if job.State != protocol.Failed || !strings.Contains(job.Reason, "absent is not there") {
		t.Errorf("a job that does not make what is to come back: %+v", job)
	}
}

// TestStagingSurvivesKills kills either peer with SIGKILL while the files of a job move to its site, and while its
// results come home, each at a place in the file that is drawn: the transfer goes on from there, and every file
// is what it was.
func TestStagingSurvivesKills(t *testing.T) {
	const slow = "[transfer]\nmax_rate = \"1MB/s\"\n"
	g := startPatientGrid(t, testbed.Machine{Name: "aurora", CPUs: 2, More: slow}, testbed.Machine{Name: "borealis", CPUs: 2, More: slow})
	aurora, borealis := g.Sites[0], g.Sites[1]
	size := 5 << 20
	if testing.Short() {
		size = 2 << 20
	}
	draw := rand.New(rand.NewPCG(7, uint64(size)))
	content := make([]byte, size)
	for i := range content {
		content[i] = byte(draw.Uint32())
	}
	dir := stagedDir(t, g, "killed", map[string]string{"in/one": string(content[:size/3]), "in/two": string(content[size/3:])})
	id := g.submit(t, aurora, "#!/bin/sh\ncat in/one in/two >all\n", "--chdir="+dir, "--sites=borealis", "-o", "out", "--stage-in=in", "--stage-out=.")
	half := int64(size / 2)
	kills := []struct {
		victim *testbed.Site
		file   string // that must have come so far
		at     int64
	}{
		{borealis, filepath.Join(g.Dir, "borealis", "state", "kept", id.String()+".1.stage-in.part"), draw.Int64N(half)},
		{aurora, filepath.Join(g.Dir, "borealis", "state", "kept", id.String()+".1.stage-in.part"), half + draw.Int64N(half/2)},
		{aurora, filepath.Join(g.Dir, "aurora", "state", "kept", id.String()+".1.stage-out.part"), draw.Int64N(half)},
		{borealis, filepath.Join(g.Dir, "aurora", "state", "kept", id.String()+".1.stage-out.part"), half + draw.Int64N(half/2)},
	}
	if testing.Short() {
		kills = []struct {
			victim *testbed.Site
			file   string
			at     int64
		}{kills[0], kills[2]}
	}
	for _, kill := range kills {
		hasBytes(t, kill.file, kill.at)
		if err := errors.Join(kill.victim.Kill(), kill.victim.Start()); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s was killed when %s had more than %d bytes", kill.victim.Name, filepath.Base(kill.file), kill.at)
	}
	job := g.until(t, aurora, id, ended)
	if job.State != protocol.Completed {
		t.Fatalf("%+v", job)
	}
	hasFiles(t, dir, map[string]string{"all": string(content), "in/one": string(content[:size/3]), "in/two": string(content[size/3:])})
	for _, site := range g.Sites {
		if left, err := filepath.Glob(filepath.Join(g.Dir, string(site.Name), "state", "kept", "*stage*")); err != nil || len(left) > 0 {
			t.Errorf("%s keeps %q, %v", site.Name, left, err)
		}
	}
}

// hasBytes waits until a file has more than a number of bytes.
func hasBytes(t *testing.T, path string, size int64) {
	t.Helper()
	for ctx := patience(t); ; {
		if info, err := os.Stat(path); err == nil && info.Size() > size {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s never has more than %d bytes", path, size)
		case <-time.After(10 * time.Millisecond):
		}
	}
}
