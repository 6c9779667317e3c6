package batchscript_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// What is wanted of starts is told to the peer, of an application as of a script.
func TestStartsTogether(t *testing.T) {
	t.Parallel()
	script := func(lines string) batchscript.Script {
		return batchscript.Script{Name: "job.sh", Data: []byte("#!/bin/sh\n#SWITCHYARD --max-time=2h\n" + lines + "true\n")}
	}
	b, _, err := batchscript.Read(script("#SWITCHYARD --start-tolerance=90s\n#SWITCHYARD --start-missed=fail\n"), nil, batchscript.Origin{Dir: "/"})
	if err != nil || b.Application.StartTolerance != 90*protocol.Second ||
		b.Application.StartMissed != peer.FailMissed {
		t.Errorf("got %+v, %v", b.Application, err)
	}
	if _, _, err = batchscript.Read(script("#SWITCHYARD --start-missed=sulk\n"), nil, batchscript.Origin{Dir: "/"}); err == nil || !strings.Contains(err.Error(), "use retry or fail") {
		t.Errorf("got %v", err)
	}
}
