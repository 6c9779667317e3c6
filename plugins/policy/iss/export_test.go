package iss

import "github.com/switchyard-hpc/switchyard/protocol"

// Weigh is the sum of amounts by their weights.
func Weigh(amounts []protocol.Micro, weights []int) protocol.Micro {
	var terms []term
	for i, amount := range amounts {
		terms = append(terms, term{amount, weights[i]})
	}
	return weigh(terms...)
}
