package audit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/testlog"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// kept is a log in a directory of the test, with what it says of itself.
type kept struct {
	*Log

	path string
	said testlog.Buffer
	lost atomic.Int32
}

func openLog(t *testing.T, maxSize int64, files int) *kept {
	t.Helper()
	k := &kept{path: filepath.Join(t.TempDir(), "audit.jsonl")}
	var err error
	k.Log, err = Open(Config{
		Path: k.path, MaxSize: maxSize, Files: files,
		Log: slog.New(slog.NewTextHandler(&k.said, nil)), Lost: func() { k.lost.Add(1) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k.Close() })
	return k
}

func entries(t *testing.T, path string) (all []Entry) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var e Entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all = append(all, e)
	}
	return all
}

func numbered(n int) Entry {
	return Entry{At: time.Unix(1_800_000_000, 0), Action: strconv.Itoa(n), Way: Socket, Result: Done}
}

func TestFilesAreSetAsideBySize(t *testing.T) {
	t.Parallel()
	line, err := numbered(10).line()
	if err != nil {
		t.Fatal(err)
	}
	k := openLog(t, int64(3*len(line)), 3)
	for n := 10; n < 21; n++ {
		k.Write(numbered(n))
	}
	for path, want := range map[string]string{k.path: "19 20", k.path + ".1": "16 17 18", k.path + ".2": "13 14 15"} {
		var found []string
		for _, e := range entries(t, path) {
			found = append(found, e.Action)
		}
		if got := strings.Join(found, " "); got != want {
			t.Errorf("%s has %s, not %s", filepath.Base(path), got, want)
		}
	}
	if _, err := os.Stat(k.path + ".3"); err == nil {
		t.Error("there are more files than allowed")
	}
}

// Logrotate moves the file away, and says so to nobody.
func TestMovedFile(t *testing.T) {
	t.Parallel()
	k := openLog(t, 1<<20, 2)
	k.Write(numbered(1))
	if err := os.Rename(k.path, k.path+"-20261128"); err != nil {
		t.Fatal(err)
	}
	k.Write(numbered(2))
	if old, now := entries(t, k.path+"-20261128"), entries(t, k.path); len(old) != 1 || len(now) != 1 || now[0].Action != "2" {
		t.Errorf("before the move %v, after it %v", old, now)
	}
}

func TestFailedWritesAreCountedAndSaid(t *testing.T) {
	t.Parallel()
	k := openLog(t, 1<<20, 2)
	k.Write(numbered(1))
	for range 2 {
		broken, err := os.Open(k.path) // cannot be written
		if err != nil {
			t.Fatal(err)
		}
		_ = k.to.close()
		k.to.now = broken
		k.Write(numbered(2))
	}
	if k.lost.Load() != 2 || strings.Count(k.said.String(), "audit_write_failed") != 1 {
		t.Errorf("%d entries lost; said %s", k.lost.Load(), &k.said)
	}
	k.Write(numbered(3))
	if !strings.Contains(k.said.String(), "audit_write_resumed") || !strings.Contains(k.said.String(), "lost_entries=2") {
		t.Errorf("said %s", &k.said)
	}
	if all := entries(t, k.path); len(all) != 3 || all[1].Action != "entries-lost" || !strings.HasPrefix(all[1].Reason, "2 could not be written") || all[2].Action != "3" {
		t.Errorf("the file has %v", all)
	}
}

// After a crash the last line may not be whole. The next one must not be lost with it.
func TestTornLine(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	if err := os.WriteFile(path, []byte(`{"time":"2026`), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := Open(Config{Path: path, MaxSize: 1 << 20, Files: 1, Log: slog.New(slog.DiscardHandler), Lost: func() {}})
	if err != nil {
		t.Fatal(err)
	}
	l.Write(numbered(1))
	if err = l.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(string(data), "\n"); len(lines) != 3 || !json.Valid([]byte(lines[1])) {
		t.Errorf("the file has %q", data)
	}
}

func TestPathOfNoFile(t *testing.T) {
	t.Parallel()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Join(t.TempDir(), "file"), link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/dev/null", link, t.TempDir(), filepath.Join(t.TempDir(), "missing", "audit.jsonl")} {
		if _, err := Open(Config{Path: path}); err == nil {
			t.Errorf("%s is used as an audit log", path)
		} else if path == link && !strings.Contains(err.Error(), "is a symbolic link") {
			t.Error(err)
		}
	}
}

// Other accounts must not read the file, whoever has made it.
func TestModeOfFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := Open(Config{Path: path, MaxSize: 1 << 20, Files: 1, Log: slog.New(slog.DiscardHandler), Lost: func() {}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v, %v", info.Mode(), err)
	}
}

// A file that cannot be set aside, or that was moved away and has no follower, goes on, and says so once.
func TestFileThatCannotBeSetAside(t *testing.T) {
	t.Parallel()
	k := openLog(t, 10, 2)
	if err := os.MkdirAll(filepath.Join(k.path+".1", "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		k.Write(numbered(n))
	}
	all := entries(t, k.path)
	if len(all) != 4 || all[1].Action != "1" || all[2].Action != "rotation-failed" || all[3].Action != "2" || strings.Count(k.said.String(), "audit_rotation_failed") != 1 {
		t.Errorf("the file has %+v; said %s", all, &k.said)
	}
	moved := openLog(t, 1<<20, 2)
	if err := errors.Join(os.Rename(moved.path, moved.path+".old"), os.Mkdir(moved.path, 0o700)); err != nil {
		t.Fatal(err)
	}
	moved.Write(numbered(1))
	if all = entries(t, moved.path+".old"); len(all) != 2 || all[0].Action != "1" || moved.lost.Load() != 0 {
		t.Errorf("the file that was moved away has %+v", all)
	}
}

// A slow disk holds up those who wait for their entries, and no others: what finds no room is counted, and said in the file. Close writes
// what waits.
func TestSlowDisk(t *testing.T) {
	t.Parallel()
	k := openLog(t, 1<<30, 2)
	reader, slow, err := os.Pipe() // holds some entries, and then none until it is read
	if err != nil {
		t.Fatal(err)
	}
	if err = errors.Join(k.to.close(), os.Remove(k.path)); err != nil {
		t.Fatal(err)
	}
	k.to.now, k.to.rotateAfter = slow, time.Now().Add(time.Hour) // the path is not looked at meanwhile
	const added = 10 * maxWaiting
	for n := range added {
		k.Add(numbered(n))
	}
	lost := int(k.lost.Load())
	if lost == 0 || lost > added-maxWaiting {
		t.Errorf("%d of %d entries are lost", lost, added)
	}
	closed := make(chan error, 1)
	go func() { closed <- k.Close() }()
	count := 0
	var last Entry
	said := 0 // the writer is at times as fast as the disk, and says between what is lost until then
	for lines := bufio.NewScanner(reader); lines.Scan(); {
		if err = json.Unmarshal(lines.Bytes(), &last); err != nil {
			t.Fatal(err)
		}
		if last.Action == "entries-lost" {
			failed, overflowed := 0, 0
			if _, err = fmt.Sscanf(last.Reason, "%d could not be written, and %d came faster than they were written", &failed, &overflowed); err != nil || failed != 0 {
				t.Errorf("%q: %v", last.Reason, err)
			}
			said += overflowed
			continue
		}
		count++
	}
	if err = <-closed; err != nil {
		t.Fatal(err)
	}
	if count != added-lost || said != lost {
		t.Errorf("%d entries are written and %d lost of %d; said are %d", count, lost, added, said)
	}
	k.Write(numbered(1))
	if int(k.lost.Load()) != lost+1 {
		t.Error("an entry after the end is not counted as lost")
	}
}

func TestNoLogKeepsNothing(t *testing.T) {
	t.Parallel()
	var l *Log
	l.Write(numbered(1))
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// Whatever a text is, its entry is one line of bounded length with printable characters, and reads back.
func checkText(t interface{ Errorf(string, ...any) }, text string) {
	e := Entry{
		Action: "POST /v1/jobs", Way: Network, User: text, Path: text, Request: text, Reason: text, From: text, Token: text, Made: text,
		Partner: protocol.SiteName("there"), Changed: []string{text}, Result: Done,
	}
	line, err := e.line()
	if err != nil {
		t.Errorf("%q: %v", text, err)
		return
	}
	body, ended := bytes.CutSuffix(line, []byte{'\n'})
	if bad := strings.IndexFunc(string(body), func(r rune) bool { return !unicode.IsPrint(r) }); !ended || bad >= 0 {
		t.Errorf("%q is written as %q", text, line)
	}
	if len(line) > 100_000 {
		t.Errorf("an entry has %d bytes", len(line))
	}
	var back Entry
	if err := json.Unmarshal(body, &back); err != nil {
		t.Errorf("%q: %v", line, err)
	}
	if want := strings.ToValidUTF8(text, "\uFFFD"); len(text) <= maxText && len([]rune(want)) == len([]rune(text)) && back.Reason != string([]rune(text)) {
		t.Errorf("%q reads back as %q", text, back.Reason)
	}
}

func TestHostileText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"a\n{\"action\":\"forged\"}", "\x1b[2J", "\u009b2J", "\u202eevil", "\x00", "\xff\xfe", "\U000e0001", `"},{"`, strings.Repeat("ö", 5000), "\u2028",
	} {
		checkText(t, text)
	}
	rapid.Check(t, func(t *rapid.T) { checkText(t, rapid.String().Draw(t, "text")) })
}

func FuzzLine(f *testing.F) {
	f.Add("a\n{\"action\":\"forged\"}")
	f.Add("\x1b[2J\u202e\xff")
	f.Fuzz(func(t *testing.T, text string) { checkText(t, text) })
}

func TestLongLists(t *testing.T) {
	t.Parallel()
	e := Entry{Jobs: make([]protocol.JobID, 1500), Changed: make([]string, 150)}
	line, err := e.line()
	if err != nil {
		t.Fatal(err)
	}
	var back Entry
	if err := json.Unmarshal(line, &back); err != nil {
		t.Fatal(err)
	}
	if len(back.Jobs) != MaxJobs || back.Omitted != 500 || len(back.Changed) != maxChanged+1 || back.Changed[maxChanged] != "and 50 more" {
		t.Errorf("%d jobs and %d more, %d changes", len(back.Jobs), back.Omitted, len(back.Changed))
	}
}

func TestOfEvent(t *testing.T) {
	t.Parallel()
	e, ok := OfEvent(event.LogEvent{Kind: event.LogGuestEnded, At: 1_800_000_000_000, Job: 7, Site: "there", State: protocol.Cancelled})
	if !ok || e.Way != Partner || e.Partner != "there" || e.Reason != "CANCELLED" || len(e.Jobs) != 1 || e.At.Unix() != 1_800_000_000 {
		t.Errorf("%+v, %v", e, ok)
	}
	if e, ok = OfEvent(event.LogEvent{Kind: event.LogGuestRefused, Job: 7, Site: "there", Text: "no account"}); !ok || e.Result != "refused" || e.Reason != "no account" {
		t.Errorf("%+v, %v", e, ok)
	}
	if e, ok = OfEvent(event.LogEvent{Kind: event.LogRecovered, Site: "here"}); !ok || e.Way != Peer || e.Partner != "" {
		t.Errorf("%+v, %v", e, ok)
	}
	if _, ok = OfEvent(event.LogEvent{Kind: event.LogRoundOpened}); ok {
		t.Error("a round is in the audit log")
	}
}
