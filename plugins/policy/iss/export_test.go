package iss

import (
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// FrontOf is the front of one of several applications.
func (p *Policy) FrontOf(in policy.Snapshot, application int) (policy.ParetoFront, error) {
	return p.front(in, application)
}

// Weigh is the sum of amounts by their weights.
func Weigh(amounts []protocol.Micro, weights []int) protocol.Micro {
	var terms []term
	for i, amount := range amounts {
		terms = append(terms, term{amount, weights[i]})
	}
	return weigh(terms...)
}
