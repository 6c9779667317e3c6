package main

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/passwd"
	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// hostile is text as only somebody sends it who wants to fool who reads it.
const hostile = "a\u202eb\u200b\x1b[2J\r\nc"

// soil puts hostile text into every string of a value, and something into all else.
func soil(v reflect.Value) {
	if indexes, ok := reflect.TypeAssert[*protocol.Indexes](v.Addr()); ok {
		*indexes = protocol.IndexesOf(7)
		return
	}
	switch v.Kind() { //nolint:exhaustive // the rest holds no text
	case reflect.String:
		v.SetString(hostile)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		soil(v.Index(0))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		soil(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				soil(v.Field(i))
			}
		}
	default:
		switch {
		case v.CanInt():
			v.SetInt(7)
		case v.CanUint():
			v.SetUint(2)
		}
	}
}

// soiled is a value full of hostile text.
func soiled[T any]() (value T) {
	soil(reflect.ValueOf(&value).Elem())
	return value
}

// soiledFacts has a fact of each kind.
func soiledFacts(t *testing.T) (facts []event.LogEvent) {
	t.Helper()
	source, err := os.ReadFile("../../peer/event/logevent.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range regexp.MustCompile(`(?m)^\t\w+ .*LogKind += "([a-z-]+)"|^\t\w+ += "([a-z-]+)"`).FindAllStringSubmatch(string(source), -1) {
		fact := soiled[event.LogEvent]()
		fact.Kind = event.LogKind(kind[1] + kind[2])
		facts = append(facts, fact)
	}
	if len(facts) < 20 {
		t.Fatalf("%d kinds of facts were found", len(facts))
	}
	return facts
}

// TestTextOfOthersIsEscaped: whatever a partner, a user or a plugin has written into a name, a
// reason or a note, no command prints a character of it that cannot be seen.
func TestTextOfOthersIsEscaped(t *testing.T) {
	t.Parallel()
	job, held := soiled[view.Job](), soiled[view.Job]()
	job.ID, job.State, held.ID, held.State = someID, protocol.Failed, someID+1, protocol.Pending
	held.Array = nil // logs are those of a job
	past := soiled[view.Job]()
	past.State, past.Bill.Open, past.Guest = protocol.Completed, false, false
	guest := past
	guest.Guest = true
	queue := view.Queue{Jobs: []view.Job{job, held}}
	replies := map[reflect.Type]view.Reply{
		reflect.TypeFor[event.AskQueue]():      queue,
		reflect.TypeFor[event.AskSites]():      soiled[view.Sites](),
		reflect.TypeFor[event.AskShares]():     soiled[view.Shares](),
		reflect.TypeFor[event.AskRunHistory](): soiled[view.RunHistory](),
		reflect.TypeFor[event.TestSubmit]():    soiled[view.TestSubmitResult](),
		reflect.TypeFor[event.Submit]():        view.Submitted{Jobs: []protocol.JobID{someID}, Notices: []string{hostile}},
	}
	n := &fakeNode{
		past: []view.Job{past, guest},
		jobs: map[protocol.JobID]view.Job{job.ID: job, held.ID: held}, facts: soiledFacts(t), notes: []string{hostile},
		reload: func() (api.Reloaded, error) { return soiled[api.Reloaded](), nil },
		replyF: func(ev event.Event) (view.Reply, error) {
			if reply, ok := replies[reflect.TypeOf(ev)]; ok {
				return reply, nil
			}
			return nil, no{soiled[view.Refusal]()}
		},
	}
	socket, id, other := serve(t, n), job.ID.String(), held.ID.String()
	check := func(args []string, got result) {
		t.Helper()
		for line := range strings.Lines(got.stdout + got.stderr) {
			if err := protocol.CheckText(strings.TrimSuffix(line, "\n")); err != nil {
				t.Errorf("%q prints %q: %v", args, line, err)
			}
		}
		if !strings.Contains(got.stdout+got.stderr, `\u202e`) {
			t.Errorf("%q prints nothing of it, so that nothing is tried: %+v", args, got)
		}
	}
	for _, args := range [][]string{
		{"queue"},
		{"queue", "--start"},
		{"status", id, other},
		{"status"},
		{"explain", id},
		{"explain", "--long", id},
		{"sites"},
		{"history"},
		{"history", "--csv", "--guests"},
		{"usage", "--by=user,account,site,origin"},
		{"usage", "--by=account", "--csv"},
		{"runs"},
		{"runs", "--all"},
		{"runs", "mesh"},
		{"quote"},
		{"quote", "--long"},
		{"quote", "--pareto"},
		{"submit"},
		{"submit", "--wait"},
		{"cancel", id},
		{"reload"},
		{"logs", other},
	} {
		check(args, command(t, socket, goodScript, args...))
	}
	for _, line := range []string{
		"squeue -t all", "squeue -t all -o '%j|%u|%k|%Z'", "squeue -t all -O Name:90,WorkDir:90,StdOut:90,StdErr:90",
		"sacct -a -S 1970-01-01 -P -o jobname,workdir,comment", "sacct -a -S 1970-01-01 -o jobname%90", "sinfo -N -o '%N|%f|%E'",
		"scontrol show job " + id, "scontrol -o show node",
	} {
		out, code := new(grid).slurmLine(t, &testbed.Site{Socket: socket}, line)
		check([]string{line}, result{stdout: out, code: code})
	}
}

// TestErrorsAreEscaped: an error that the command itself makes of a path shows nothing that a terminal obeys, and keeps its lines.
func TestErrorsAreEscaped(t *testing.T) {
	t.Parallel()
	me, err := passwd.ByUID(t.Context(), os.Getuid())
	if err != nil {
		t.Fatal(err)
	}
	job := view.Job{
		ID: someID, User: me.Name, Origin: "north", Site: "north", State: protocol.Completed, Started: 1,
		Stdout: "/nowhere/\x1b[31mred\x1b]0;title\x07/out",
	}
	socket := serve(t, &fakeNode{jobs: map[protocol.JobID]view.Job{someID: job}})
	got := command(t, socket, "", "logs", job.ID.String())
	if want := `/nowhere/\u001b[31mred\u001b]0;title\u0007/out: no such file`; got.code == 0 || !strings.Contains(got.stderr, want) {
		t.Errorf("%+v; want %s", got, want)
	}
	lines := command(t, socket, "", "statsu")
	if err = protocol.CheckText(strings.ReplaceAll(lines.stderr, "\n", "")); err != nil || strings.Contains(lines.stderr, `\u`) {
		t.Errorf("%q: %v", lines.stderr, err)
	}
}
