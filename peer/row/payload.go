package row

import "github.com/switchyard-hpc/switchyard/protocol"

// Payload is what a job runs.
type Payload struct {
	Payload *protocol.Payload `json:"payload"`
}

func (Payload) table() Table { return PayloadTable }
