package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
)

// statement is a command of a document, and what the document says that it prints.
type statement struct {
	number  int    // its line in the document
	command string // may have several lines
	shown   []string
}

var prompt = regexp.MustCompile(`^(?:[a-z]+)?\$ `)

// statements are the commands of a block of shell. A batch script is one, which asks for quotes for it.
func (b fence) statements() (all []statement) {
	if strings.HasPrefix(b.lines[0], "#!") {
		text := strings.Join(b.lines, "\n")
		return []statement{{number: b.number, command: "cat >script.sh <<'END'\n" + text + "\nEND\nswitchyard quote script.sh"}}
	}
	goesOn := false
	for i, line := range b.lines {
		last := len(all) - 1
		switch asked := prompt.FindString(line); {
		case goesOn:
			all[last].command += "\n" + line
		case b.language == "console" && asked == "":
			all[last].shown = append(all[last].shown, line)
			continue
		default:
			all = append(all, statement{number: b.number + 1 + i, command: line[len(asked):]})
		}
		goesOn = strings.HasSuffix(line, `\`) || strings.HasSuffix(line, "&&")
	}
	return all
}

// reader runs the commands of a document in one shell, as somebody does who reads it.
type reader struct {
	t      *testing.T
	dir    string
	in     io.Writer
	out    *bufio.Reader
	job    string // the ID of the job that was submitted last
	errors string // the file of what commands print on standard error
}

// newReader starts a shell in a directory of its own, in which switchyard is a command. All that it starts ends with the test.
func newReader(t *testing.T, env ...string) *reader {
	t.Helper()
	home := shortDir(t)
	bin, dir := filepath.Join(home, "bin"), filepath.Join(home, "dir")
	binary := plainBinary(t)
	if err := errors.Join(
		os.Chmod(home, 0o711), os.Mkdir(bin, 0o755), os.Mkdir(dir, 0o755),
		os.Symlink(binary, filepath.Join(bin, "switchyard")),
	); err != nil {
		t.Fatal(err)
	}
	r := &reader{t: t, dir: dir, errors: filepath.Join(home, "errors")}
	shell := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc")
	shell.Dir = dir
	shell.Env = append(os.Environ(), asBinary+"="+testCommit, "HOME="+home, "PATH="+bin+":"+os.Getenv("PATH"), "TZ=UTC")
	shell.Env = append(shell.Env, env...)
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := shell.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := shell.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	r.in, r.out = in, bufio.NewReader(out)
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-shell.Process.Pid, syscall.SIGTERM)
		_ = in.Close()
		_, _ = io.Copy(io.Discard, r.out) // until all that it has started have ended
		_ = shell.Wait()
	})
	return r
}

// run runs a command and returns its exit code and what it has printed. Commands that read their input find none.
func (r *reader) run(command string) (code int, printed string) {
	r.t.Helper()
	const end = "-- the command has ended with"
	if _, err := fmt.Fprintf(r.in, "{ %s\n} </dev/null 2>>%s; printf '\\n%s %%d\\n' $?\n", command, r.errors, end); err != nil {
		r.t.Fatal(err)
	}
	var text strings.Builder
	for {
		line, err := r.out.ReadString('\n')
		if err != nil {
			r.t.Fatalf("the shell ended in: %s\n%s%s", command, text.String(), r.complaints())
		}
		if _, err := fmt.Sscanf(line, end+" %d\n", &code); err == nil {
			return code, strings.TrimSuffix(text.String(), "\n")
		}
		text.WriteString(line)
	}
}

// must runs commands that prepare what a document takes for granted.
func (r *reader) must(commands string) {
	r.t.Helper()
	if code, printed := r.run("set -e\n" + commands + "\nset +e"); code != 0 {
		r.t.Fatalf("%s: exit code %d\n%s%s", commands, code, printed, r.complaints())
	}
}

// complaints are the last lines that commands have printed on standard error.
func (r *reader) complaints() string {
	text, _ := os.ReadFile(r.errors) // none if nothing has run
	return string(text[max(0, len(text)-2000):])
}

// follow runs a command of a document. ID, and the IDs of jobs in it, stand for the job that was submitted last. Commands that look
// at what goes on are repeated until they print what the document shows, and "switchyard sites" until all links are up.
func (r *reader) follow(at string, s statement) {
	r.t.Helper()
	command := s.command
	if r.job != "" {
		command = jobIDs.ReplaceAllString(command, r.job)
	}
	look := looks.MatchString(command)
	for ctx := patience(r.t); ; time.Sleep(20 * time.Millisecond) {
		code, printed := r.run(command)
		problem := ""
		switch {
		case code != 0:
			problem = fmt.Sprintf("exit code %d", code)
		case !printsShown(command, printed, s.shown):
			problem = "prints something else than is shown"
		case strings.HasPrefix(command, "switchyard sites") && !linked(printed):
			problem = "partners are not up"
		}
		if problem == "" {
			if found := submittedID.FindStringSubmatch(printed); found != nil {
				r.job = found[1]
			}
			return
		}
		if !look || code != 0 && code != exitUnreachable || ctx.Err() != nil {
			r.t.Fatalf("%s:%d: %s: %s\n%s\nshown:\n%s\nstandard error:\n%s", at, s.number, command, problem, printed, strings.Join(s.shown, "\n"), r.complaints())
		}
	}
}

var (
	jobIDs      = regexp.MustCompile(`\bID\b|\b10[0-9]{11}\b`)
	submittedID = regexp.MustCompile(`(?m)^(?:Submitted batch job )?(10[0-9]{11})$`)
	looks       = regexp.MustCompile(`^switchyard (?:queue|status|sites|quote|plugin list)\b`)
	numbers     = regexp.MustCompile(`[0-9]+`)
	spaces      = regexp.MustCompile(` +`)
)

// printsShown: each line that is shown is printed by the command, in this order. A line of "…" stands for any. Simulations print the
// same bytes each time; what peers print differs in numbers, and so in the width of columns.
func printsShown(command, printed string, shown []string) bool {
	form := func(line string) string {
		return spaces.ReplaceAllString(numbers.ReplaceAllString(strings.TrimSpace(line), "0"), " ")
	}
	if strings.HasPrefix(command, "switchyard sim ") {
		form = strings.TrimSpace
	}
	lines := strings.Split(printed, "\n")
	for _, want := range shown {
		if want == "…" {
			continue
		}
		for len(lines) > 0 && form(lines[0]) != form(want) {
			lines = lines[1:]
		}
		if len(lines) == 0 {
			return false
		}
		lines = lines[1:]
	}
	return true
}

// linked: all sites of this output of "switchyard sites" have a link.
func linked(printed string) bool {
	for line := range strings.Lines(printed) {
		if words := strings.Fields(line); len(words) > 2 && words[0] != "SITE" && words[2] != "self" && words[2] != "up" {
			return false
		}
	}
	return true
}

// copyExample copies an example to where the shell is. Its sites listen at ports that are free.
func (r *reader) copyExample(dir string) {
	r.t.Helper()
	if err := os.CopyFS(r.dir, os.DirFS(filepath.Join(repository(r.t), dir))); err != nil {
		r.t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(r.dir, "*.toml"))
	if err != nil {
		r.t.Fatal(err)
	}
	moved := movedPorts(r.t)
	for _, file := range files {
		if err := os.WriteFile(file, []byte(moved.Replace(content(r.t, file))), 0o644); err != nil {
			r.t.Fatal(err)
		}
	}
}

// movedPorts replaces the addresses at which sites of examples listen by free ones.
func movedPorts(t *testing.T) *strings.Replacer {
	t.Helper()
	inExamples := []string{"127.0.0.1:7501", "127.0.0.1:7601", "127.0.0.1:7602", "127.0.0.1:9751", "127.0.0.1:9752"}
	free, err := testbed.FreePorts(len(inExamples))
	if err != nil {
		t.Fatal(err)
	}
	var pairs []string
	for i, address := range inExamples {
		pairs = append(pairs, address, free[i])
	}
	return strings.NewReplacer(pairs...)
}
