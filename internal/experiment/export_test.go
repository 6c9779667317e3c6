package experiment

import (
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// RequestsOf are the requests of a run's jobs, for tests.
func (p *Plan) RequestsOf(jobs []workload.Job) ([]*protocol.Spec, error) { return p.requests(jobs) }
