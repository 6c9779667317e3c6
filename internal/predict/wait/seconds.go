package wait

import (
	"math"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// ms is how many are in a second. Inside the package times are seconds.
const ms = 1000

// longest is the longest wait that is predicted: an extrapolation beyond it says
// no more than that.
const longest = 3660 * protocol.Day

func seconds(d protocol.Duration) float64 { return float64(d) / ms }

// duration rounds seconds to a span from 0 to the longest. What is no number is 0.
func duration(s float64) protocol.Duration {
	switch {
	case !(s > 0):
		return 0
	case s >= seconds(longest):
		return longest
	default:
		return protocol.Duration(math.Round(s * ms))
	}
}
