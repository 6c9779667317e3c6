package protocol

import "math"

// Unlimited is the most that may be spent where there is no limit.
const Unlimited Micro = math.MaxInt64

// WaitingRate is what waiting for results costs from a time on until the next one's begins: a step of
// k_w [IS 4.2].
type WaitingRate struct {
	From    Duration `json:"from_ms"` // after the instant that all of them count from; 0 in the first one, and rising
	PerHour Micro    `json:"per_hour_micro"`
}
