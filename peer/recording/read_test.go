package recording_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/recording"
)

func golden(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/handoff.rec")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// readAll reads to the end and returns how many steps there were and how it ended.
func readAll(data []byte) (steps int, err error) {
	r, err := recording.NewReader("x.rec", bytes.NewReader(data))
	if err != nil {
		return 0, err
	}
	for {
		if _, err = r.Next(); err != nil {
			return steps, err
		}
		steps++
	}
}

// TestTruncated: wherever the file ends, all whole steps are read and the cut is
// reported.
func TestTruncated(t *testing.T) {
	t.Parallel()
	data := golden(t)
	title := bytes.IndexByte(data, '\n') + 1
	for end := range data {
		steps, err := readAll(data[:end])
		if end >= title && !errors.Is(err, recording.ErrCut) {
			t.Fatalf("cut at %d of %d: %v", end, len(data), err)
		}
		if want := max(0, bytes.Count(data[:end], []byte("\n"))-2); steps != want || err == nil {
			t.Fatalf("cut at %d: %d steps, want %d; %v", end, steps, want, err)
		}
	}
	if steps, err := readAll(data); !errors.Is(err, io.EOF) || steps < 10 {
		t.Errorf("whole: %d steps, %v", steps, err)
	}
}

// TestPowerLoss: a last line that the disk has only in parts is a cut as well.
func TestPowerLoss(t *testing.T) {
	t.Parallel()
	data := golden(t)
	cut := bytes.LastIndexByte(data[:len(data)-40], '\n') - 30
	for _, rest := range []string{strings.Repeat("\x00", 50), strings.Repeat("\x00", 29) + "\n"} {
		if steps, err := readAll(append(bytes.Clone(data[:cut]), rest...)); !errors.Is(err, recording.ErrCut) || steps < 10 {
			t.Errorf("%q: %d steps, %v", rest, steps, err)
		}
	}
}

// TestDamage: no changed byte behind the title goes unnoticed, and the error
// names the file and the entry.
func TestDamage(t *testing.T) {
	t.Parallel()
	data := golden(t)
	title := bytes.IndexByte(data, '\n') + 1
	for i := title; i < len(data); i++ {
		changed := bytes.Clone(data)
		changed[i] ^= 4
		if _, err := readAll(changed); errors.Is(err, io.EOF) || !strings.Contains(err.Error(), "x.rec") || !strings.Contains(err.Error(), "entry") {
			t.Fatalf("byte %d: %v", i, err)
		}
	}
}

func TestReaderRefuses(t *testing.T) {
	t.Parallel()
	data := string(golden(t))
	lines := strings.SplitAfter(data, "\n")
	const later = recording.Format + 1
	title := func(s string) string { return s + "\n" + strings.Join(lines[1:], "") }
	line := func(body string) string { return recording.CRC([]byte(body)) + body + "\n" }
	for fault, text := range map[string]string{
		fmt.Sprintf(`has format "%d", written by "switchyard 9.1"; this version reads format`, later): title(fmt.Sprintf("switchyard-recording %d switchyard 9.1", later)),
		"is no recording":                        title("switchyard-recordings 3 x"),
		"x.rec: is no recording":                 "",
		"entry 1: the header is not there":       lines[0] + strings.Join(lines[2:], ""),
		"step 3 comes after step 1":              strings.Join(lines[:3], "") + strings.Join(lines[4:], ""),
		"step 1 comes after step 1":              strings.Join(lines[:3], "") + strings.Join(lines[2:], ""),
		"something follows the end":              data + "x",
		"ends after 3 steps, but has 1":          strings.Join(lines[:3], "") + line(`{"End":{"Steps":3}}`),
		"entry 3: is neither a step nor the end": strings.Join(lines[:3], "") + line(`{"Row":{}}`),
		"a message is empty":                     strings.Join(lines[:3], "") + line(`{"Step":{"N":2,"Event":{"MessageIn":{}}}}`),
		"an object with one key":                 strings.Join(lines[:3], "") + line(`{}`),
		`no field "Stop"`:                        strings.Join(lines[:3], "") + line(`{"Stop":{}}`),
		"row 1 of 2 is not there":                lines[0] + line(`{"Header":{"Rows":2}}`) + lines[2],
		`table "later" is unknown`:               lines[0] + line(`{"Header":{"Rows":1}}`) + line(`{"Row":{"Table":"later"}}`),
		"entry 3: its checksum is wrong":         strings.Join(lines[:3], "") + "00000000 {}\n" + lines[3],
		"unexpected EOF":                         strings.Join(lines[:3], "") + line(`{"Step":`),
		"gzip":                                   "\x1f\x8b rubbish rubbish",
	} {
		if _, err := readAll([]byte(text)); err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("%v, want an error about %q", err, fault)
		}
	}
}

// TestCompressed: gzip's files are read as they are, even cut ones.
func TestCompressed(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(golden(t)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.rec.gz")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := recording.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := recording.Replay(r, policies)
	same(t, sum)
	if err = errors.Join(err, r.Close()); err != nil || sum.End == "" {
		t.Errorf("%+v, %v", sum, err)
	}
	if steps, err := readAll(out.Bytes()[:out.Len()*9/10]); !errors.Is(err, recording.ErrCut) || steps == 0 {
		t.Errorf("%d steps, %v", steps, err)
	}
	if _, err := recording.Open(path + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// FuzzReader reads lines whose checksums are right, whatever they hold. No input
// makes it panic, and what it reads it can write and read again.
func FuzzReader(f *testing.F) {
	for line := range bytes.Lines(golden(f)) {
		if len(line) > 9 {
			f.Add(bytes.TrimSuffix(line[9:], []byte("\n")))
		}
	}
	f.Add([]byte(`{"Header":{"Rows":1}}` + "\n" + `{"Row":{"Table":"dedup","Value":"{}"}}`))
	start := bytes.SplitAfterN(golden(f), []byte("\n"), 3)
	f.Fuzz(func(t *testing.T, data []byte) {
		var text bytes.Buffer
		text.Write(start[0])
		if !bytes.HasPrefix(data, []byte(`{"Header"`)) {
			text.Write(start[1])
		}
		for line := range bytes.Lines(data) {
			line = bytes.TrimSuffix(line, []byte("\n"))
			text.WriteString(recording.CRC(line) + string(line) + "\n")
		}
		_, _ = readAll(data)
		r, err := recording.NewReader("fuzz.rec", &text)
		if err != nil {
			return
		}
		for {
			step, err := r.Next()
			if err != nil {
				return
			}
			written, err := recording.Encode(&step)
			if err != nil {
				t.Fatalf("what was read must be written: %v", err)
			}
			var again recording.Step
			if err = recording.Decode(written, &again, nil); err != nil || !reflect.DeepEqual(again, step) {
				t.Fatalf("%v\ngot  %+v\nwant %+v", err, again, step)
			}
		}
	})
}
