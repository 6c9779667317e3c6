package audit

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// kept is a log in a directory of the test, with what it says of itself.
type kept struct {
	*Log

	path string
	said bytes.Buffer
	lost int
}

func openLog(t *testing.T, maxSize int64, files int) *kept {
	t.Helper()
	k := &kept{path: filepath.Join(t.TempDir(), "audit.jsonl")}
	var err error
	k.Log, err = Open(Config{
		Path: k.path, MaxSize: maxSize, Files: files,
		Log: slog.New(slog.NewTextHandler(&k.said, nil)), Lost: func() { k.lost++ },
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
		k.mu.Lock()
		broken, err := os.Open(k.path) // cannot be written
		if err != nil {
			t.Fatal(err)
		}
		_ = k.file.Close()
		k.file = broken
		k.mu.Unlock()
		k.Write(numbered(2))
	}
	if k.lost != 2 || strings.Count(k.said.String(), "audit_write_failed") != 1 {
		t.Errorf("%d entries lost; said %s", k.lost, &k.said)
	}
	k.Write(numbered(3))
	if !strings.Contains(k.said.String(), "audit_write_resumed") || !strings.Contains(k.said.String(), "lost_entries=2") {
		t.Errorf("said %s", &k.said)
	}
	if all := entries(t, k.path); len(all) != 2 || all[1].Action != "3" {
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
	for _, path := range []string{"/dev/null", t.TempDir(), filepath.Join(t.TempDir(), "missing", "audit.jsonl")} {
		if _, err := Open(Config{Path: path}); err == nil {
			t.Errorf("%s is used as an audit log", path)
		}
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
