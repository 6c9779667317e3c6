package batchscript_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The spans of a job are below that of the program that submits it; of one that cannot be read there is a notice.
func TestTraceparentOfTheEnvironment(t *testing.T) {
	t.Parallel()
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for name, tt := range map[string]struct {
		env    []string
		want   protocol.Traceparent
		notice string
	}{
		"none":    {env: []string{"A=1", "TRACEPARENTS=" + parent}},
		"empty":   {env: []string{"TRACEPARENT="}},
		"valid":   {env: []string{"A=1", "TRACEPARENT=" + parent}, want: parent},
		"later":   {env: []string{"TRACEPARENT=7f" + parent[2:] + "-more"}, want: parent},
		"invalid": {env: []string{"TRACEPARENT=" + strings.ToUpper(parent)}, notice: "the environment: TRACEPARENT: "},
	} {
		for _, bare := range []bool{false, true} {
			script := batchscript.Script{Name: "job.sh", Data: []byte("#!/bin/sh\n#SWITCHYARD --export=NONE\n")}
			batch, notices, err := batchscript.Read(script, nil, batchscript.Origin{User: "ada", Host: "h", Dir: "/w", Env: tt.env, Bare: bare})
			if err != nil {
				t.Fatal(err)
			}
			if got := batch.Jobs[0].Spec.Traceparent; got != tt.want {
				t.Errorf("%s: %q, want %q", name, got, tt.want)
			}
			isOfTrace := func(notice string) bool { return strings.HasPrefix(notice, tt.notice) }
			if len(notices) > 0 != (tt.notice != "") || !slices.ContainsFunc(notices, isOfTrace) && tt.notice != "" {
				t.Errorf("%s: the notices are %q", name, notices)
			}
		}
	}
}
