package mincostflow

import "encoding/binary"

const (
	hintVersion = 1
	maxHint     = 64 << 10 // bytes; what a policy's answer may carry
)

// formatHint writes the version, the number of systems, their prices and that of
// the unserved as variable-length integers. It writes nothing for a number of
// systems that would make the hint too long.
func formatHint(prices []int64, unserved int64) []byte {
	hint := binary.AppendUvarint(nil, hintVersion)
	hint = binary.AppendUvarint(hint, uint64(len(prices)))
	for _, p := range prices {
		hint = binary.AppendVarint(hint, p)
	}
	hint = binary.AppendVarint(hint, unserved)
	if len(hint) > maxHint {
		return nil
	}
	return hint
}

// parseHint reads the prices of that many systems and the unserved from a hint, none
// above the penalty; not ok if it is none.
func parseHint(hint []byte, systems int, penalty int64) (price []int64, ok bool) {
	if len(hint) > maxHint {
		return nil, false
	}
	version, rest, ok := takeUvarint(hint)
	if !ok || version != hintVersion {
		return nil, false
	}
	count, rest, ok := takeUvarint(rest)
	if !ok || count != uint64(systems) || systems >= len(rest) { //nolint:gosec // within MaxSystems
		return nil, false
	}
	for range systems + 1 {
		p, n := binary.Varint(rest)
		if n <= 0 || p < 0 {
			return nil, false
		}
		price = append(price, min(p, penalty))
		rest = rest[n:]
	}
	return price, len(rest) == 0
}

func takeUvarint(from []byte) (value uint64, rest []byte, ok bool) {
	value, n := binary.Uvarint(from)
	if n <= 0 {
		return 0, nil, false
	}
	return value, from[n:], true
}
