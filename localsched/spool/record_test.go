package spool_test

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestJobRecord(t *testing.T) {
	t.Parallel()
	dir, sub := t.TempDir(), guest()
	job := spool.NewJob(sub, me(), "north", 0)
	if len(sub.Payload.Script) == 0 {
		t.Error("the submission has lost its script")
	}
	if err := spool.ReplaceRecord(dir, spool.JobFile, job); err != nil {
		t.Fatal(err)
	}
	got, err := spool.ReadJob[spool.Job](dir, tag)
	if err != nil || !reflect.DeepEqual(got, job) {
		t.Errorf("written %+v, read %+v, %v", job, got, err)
	}
	if len(got.Submission.Payload.Script) > 0 {
		t.Error("the script is in the record")
	}
	for words, change := range map[string]func(*spool.Job){
		"has format": func(j *spool.Job) { j.Format++ },
		"about job":  func(j *spool.Job) { j.Submission.Tag.Epoch++ },
		"no payload": func(j *spool.Job) { j.Submission.Payload = nil },
	} {
		wrong := job
		change(&wrong)
		if err := spool.ReplaceRecord(dir, spool.JobFile, wrong); err != nil {
			t.Fatal(err)
		}
		_, err := spool.ReadJob[spool.Job](dir, tag)
		if err == nil || !strings.Contains(err.Error(), words) || !strings.Contains(err.Error(), filepath.Join(dir, "job.json")) {
			t.Errorf("%s: %v", words, err)
		}
	}
	if _, err := spool.ReadJob[spool.Job](filepath.Join(dir, "no"), tag); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestGuestRoom makes a guest's room, has the guest write, and describes that.
func TestGuestRoom(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	job := spool.NewJob(guest(), me(), "north", 0)
	if err := job.AddFiles(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	only(t, dir, "err", "out", "usage", "work")
	for name, mode := range map[string]fs.FileMode{"work": 0o700, "out": 0o600, "err": 0o600, "usage": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok || st.Uid != me().UID || info.Mode().Perm() != mode {
			t.Errorf("%s has mode %v and is of %d", name, info.Mode(), st.Uid)
		}
	}
	write(t, filepath.Join(dir, "out"), "said\n")
	if err := os.Remove(filepath.Join(dir, "err")); err != nil {
		t.Fatal(err)
	}
	files, notices := job.Files(t.Context(), dir)
	if want := []string{"stderr is not returned: the job has removed it"}; !slices.Equal(notices, want) {
		t.Errorf("the notices are %q, want %q", notices, want)
	}
	outcome := spool.End{State: protocol.Completed, Files: files}.Change(tag, 0).Outcome
	want := protocol.File{Stream: protocol.Stdout, Size: 5, SHA256: sha256.Sum256([]byte("said\n"))}
	if !slices.Equal(outcome.Files, []protocol.File{want}) {
		t.Errorf("described as %+v", outcome.Files)
	}
}

func TestGuestWithOneFile(t *testing.T) {
	t.Parallel()
	dir, sub := t.TempDir(), guest()
	sub.Payload.Stderr = sub.Payload.Stdout
	job := spool.NewJob(sub, me(), "north", 0)
	if err := job.AddFiles(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	only(t, dir, "out", "usage", "work")
	if files, notices := job.Files(t.Context(), dir); len(notices) > 0 || len(files) != 1 || files[0].Stream != protocol.Stdout {
		t.Errorf("%+v, %q", files, notices)
	}
}

// TestLocalJob has a file to report in and no other room, no files to describe, and runs
// where it says.
func TestLocalJob(t *testing.T) {
	t.Parallel()
	dir, sub := t.TempDir(), guest()
	sub.Guest = false
	job := spool.NewJob(sub, me(), "north", 0)
	if err := job.AddFiles(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	only(t, dir, "usage")
	if files, notices := job.Files(t.Context(), dir); files != nil || notices != nil {
		t.Errorf("%+v, %q", files, notices)
	}
	if out := job.Outputs(dir); out.Stdout != "/home/alice/out" || out.Stderr != "/home/alice/err" {
		t.Errorf("%+v", out)
	}
	if got := job.WorkDir(dir); got != "/home/alice" {
		t.Error(got)
	}
	job.Submission.Payload.WorkDir = ""
	if got := job.WorkDir(dir); got != "/home/me" {
		t.Error(got)
	}
}

func TestGiven(t *testing.T) {
	t.Parallel()
	sub := guest()
	sub.Spec.CPUs = 4
	for _, isGuest := range []bool{true, false} {
		sub.Guest = isGuest
		sub.Payload.Env = []string{"HOME=/home/alice", "USER=alice", "LOGNAME=alice", "SHELL=/bin/zsh"}
		given := spool.NewJob(sub, me(), "north", 0).Given("/spool/jobs/7", 4)
		want := map[string]bool{
			"SWITCHYARD_JOB_ID=7000000000005": true, "SWITCHYARD_JOB_NAME=test": true, "SWITCHYARD_ORIGIN_SITE=south": true,
			"SWITCHYARD_EXEC_SITE=north": true, "SWITCHYARD_EPOCH=3": true, "SLURM_JOB_NAME=test": true,
			"SWITCHYARD_USAGE=/spool/jobs/7/usage": true, "SWITCHYARD_CPUS=4": true,
			"SLURM_SUBMIT_DIR=/home/alice": !isGuest, "SLURM_SUBMIT_DIR=/spool/jobs/7/work": isGuest, // where it starts
			"HOME=/home/me": isGuest, "USER=me": isGuest, "LOGNAME=me": isGuest, "SHELL=/bin/sh": isGuest,
		}
		for v, is := range want {
			if slices.Contains(given, v) != is {
				t.Errorf("guest %v: %s is given: %v", isGuest, v, !is)
			}
		}
	}
}

// TestLoginIsGiven: a job of this site whose submission leaves out what a login sets, as with --export=NONE, finds it as
// a guest does.
func TestLoginIsGiven(t *testing.T) {
	t.Parallel()
	sub := guest()
	sub.Guest, sub.Payload.Env = false, []string{"USER=alice"}
	given := spool.NewJob(sub, me(), "north", 0).Given("/spool/jobs/7", 4)
	for v, is := range map[string]bool{"HOME=/home/me": true, "LOGNAME=me": true, "SHELL=/bin/sh": true, "USER=me": false} {
		if slices.Contains(given, v) != is {
			t.Errorf("%s is given: %v", v, !is)
		}
	}
}

// TestUsageIsOpened: as the job has written it, and not what it has put in its place.
func TestUsageIsOpened(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	job := spool.NewJob(guest(), me(), "north", 0)
	if _, err := job.OpenUsage(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Error("one that is not there:", err)
	}
	if err := job.AddFiles(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "usage")
	write(t, path, "sent = 1")
	file, err := job.OpenUsage(dir)
	if err != nil {
		t.Fatal(err)
	}
	if data, err := io.ReadAll(file); err != nil || string(data) != "sent = 1" {
		t.Errorf("%q, %v", data, err)
	}
	file.Close()
	if err := errors.Join(os.Remove(path), os.Symlink("/etc/passwd", path)); err != nil {
		t.Fatal(err)
	}
	if _, err := job.OpenUsage(dir); !errors.Is(err, spool.ErrNotPlain) {
		t.Error("a link:", err)
	}
}

// TestOver: what is given counts, the rest of what was submitted stays as it was.
func TestOver(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[ABC]?=?[a-z=]{0,3}`)
		pair := rapid.StringMatching(`[ABC]=[a-z=]{0,3}`)
		submitted, given := rapid.SliceOf(word).Draw(t, "submitted"), rapid.SliceOf(pair).Draw(t, "given")
		env := spool.Over(submitted, given)
		rest := env[:len(env)-len(given)]
		if !slices.Equal(env[len(rest):], given) {
			t.Fatalf("%q does not end with what is given", env)
		}
		var want []string
		for _, v := range submitted {
			name, _, ok := strings.Cut(v, "=")
			if ok && name != "" && !slices.ContainsFunc(given, func(g string) bool { return strings.HasPrefix(g, name+"=") }) {
				want = append(want, v)
			}
		}
		if !slices.Equal(rest, want) {
			t.Fatalf("%q is left of what was submitted, want %q", rest, want)
		}
	})
}

func TestEndIsReported(t *testing.T) {
	t.Parallel()
	end := spool.End{State: protocol.Failed, ExitCode: 3, Reason: "why", Started: 5_000, Ran: 70, Usage: protocol.Usage{Mflop: 9}}
	got := end.Change(tag, 2_000)
	if got.Tag != tag || got.State != protocol.Failed || got.Reason != "why" || got.Started != 5_000 ||
		got.Outcome.ExitCode != 3 || got.Outcome.Usage != end.Usage || got.Outcome.Ran != 70 || got.Outcome.Waited != 3_000 {
		t.Errorf("%+v", got)
	}
	for _, submitted := range []protocol.Instant{0, 6_000} {
		if got := end.Change(tag, submitted).Outcome.Waited; got != 0 {
			t.Errorf("submitted at %d it has waited %v", submitted, got)
		}
	}
}

// FuzzRecords reads damaged records as schedulers do when they open a spool.
func FuzzRecords(f *testing.F) {
	f.Add([]byte(`{"format":3,"submission":{"Tag":{"Job":7000000000005,"Epoch":3},"Payload":{}}}`))
	f.Add([]byte(`{"state":"COMPLETED","files":[{"stream":1,"size":-1,"sha256":"zz"}]}`))
	f.Add([]byte(`{"state":"FAILED","files":[{"stream":1,"sha256":"` + strings.Repeat("00", 40) + `"}]}`))
	f.Add([]byte(`{"state":"PENDING"}`))
	f.Add([]byte("null"))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		write(t, filepath.Join(dir, spool.JobFile), string(data))
		if job, err := spool.ReadJob[spool.Job](dir, tag); err == nil {
			if job.Submission.Tag != tag {
				t.Errorf("%q is read as %+v", data, job)
			}
			job.Given(dir, 1)
			job.Outputs(dir)
			job.WorkDir(dir)
		}
		end, err := spool.ReadEnd[spool.End](dir, spool.JobFile)
		if err != nil {
			return
		}
		if change := end.Change(tag, 1); !change.State.Terminal() || len(change.Outcome.Files) > len(end.Files) {
			t.Errorf("%q is reported as %+v", data, change)
		}
	})
}

// TestRecordsOfFormerVersions reads what earlier versions have written: the script in
// job.json, a number beside it that only one scheduler knows.
func TestRecordsOfFormerVersions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, spool.JobFile), `{"format": 3, "seq": 9, "submitted_ms": 12,
"submission": {"Tag": {"Job": 7000000000005, "Epoch": 3}, "Spec": {"name": "test"}, "Payload": {"script": "IyEvYmluL3NoCg==",
"args": null, "env": null, "work_dir": "L3c=", "stdout": "L28=", "stderr": "L2U="}, "Origin": "south", "Account": "me", "Guest": true},
"account": {"name": "me", "uid": 7, "gid": 8, "groups": [8, 9], "home": "/home/me", "shell": "/bin/sh"}, "site": "north", "grace_ms": 5}`)
	job, err := spool.ReadJob[spool.Job](dir, tag)
	if err != nil || job.Submitted != 12 || job.Site != "north" || !job.Submission.Guest || job.Submission.Payload.WorkDir != "/w" {
		t.Errorf("%+v, %v", job, err)
	}
	want := spool.Account{Name: "me", UID: 7, GID: 8, Groups: []uint32{8, 9}, Home: "/home/me", Shell: "/bin/sh"}
	if !reflect.DeepEqual(job.Account, want) {
		t.Errorf("the account is %+v", job.Account)
	}
	write(t, filepath.Join(dir, spool.JobFile), `{"format": 1, "submission": {"Tag": {"Job": 7000000000005, "Epoch": 3}, "Payload": {"WorkDir": "/w"}}}`)
	if _, err = spool.ReadJob[spool.Job](dir, tag); err == nil || !strings.Contains(err.Error(), "or of another version") {
		t.Errorf("a record of format 1: %v", err)
	}
	var fields map[string]any
	data, err := spool.Encode(spool.Account{Name: "me", UID: 7, GID: 8})
	if err = errors.Join(err, json.Unmarshal(data, &fields)); err != nil || len(fields) != 5 {
		t.Errorf("without groups it is written as %s, %v", data, err)
	}
}
