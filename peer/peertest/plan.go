package peertest

import (
	"errors"
	"fmt"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Plan is what a job does when it runs. It travels as the job's script.
type Plan struct {
	Run      protocol.Duration // until it ends by itself
	Exit     int
	NodeFail bool // its node fails instead
	Refuse   bool // the batch system will not take it
}

const planForm = "run=%d exit=%d node_fail=%t refuse=%t"

// Payload is a payload that does as planned.
func (p Plan) Payload() *protocol.Payload {
	return &protocol.Payload{
		Script:  fmt.Appendf(nil, planForm, p.Run, p.Exit, p.NodeFail, p.Refuse),
		WorkDir: "/home/ada", Stdout: "/home/ada/%j.out", Stderr: "/home/ada/%j.out",
	}
}

// ParsePlan reads the plan in a payload.
func ParsePlan(payload *protocol.Payload) (p Plan, err error) {
	if payload == nil {
		return p, errors.New("the job has no payload")
	}
	if _, err = fmt.Sscanf(string(payload.Script), planForm, &p.Run, &p.Exit, &p.NodeFail, &p.Refuse); err != nil {
		return p, fmt.Errorf("script %q is no plan: %w", payload.Script, err)
	}
	return p, nil
}

// Job is a job that does as planned.
func (p Plan) Job(spec protocol.Spec) protocol.Job {
	return protocol.Job{Spec: spec, Payload: p.Payload()}
}

func (p Plan) outcome() protocol.Outcome {
	switch {
	case p.NodeFail:
		return protocol.Outcome{State: protocol.NodeFail, Reason: "a node failed"}
	case p.Exit != 0:
		return protocol.Outcome{State: protocol.Failed, ExitCode: p.Exit}
	}
	return protocol.Outcome{State: protocol.Completed}
}
