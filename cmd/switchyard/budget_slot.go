package main

import "github.com/switchyard-hpc/switchyard/protocol"

// slotJSON is the price of a time, as it is kept.
type slotJSON struct {
	Start  protocol.Instant  `json:"start_ms"`
	Length protocol.Duration `json:"length_ms"`
	Price  protocol.Micro    `json:"price_micro"` // millionths per MWh
}
