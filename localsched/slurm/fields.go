package slurm

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// parseTime reads a time as the commands print it under TZ=UTC. It is 0 for the
// words that stand for no time.
func parseTime(text string) (protocol.Instant, error) {
	switch text {
	case "N/A", "Unknown", "None", "NONE", "":
		return 0, nil
	}
	t, err := time.Parse("2006-01-02T15:04:05", text)
	if err != nil {
		return 0, fmt.Errorf("%q is not a time as Slurm prints it", text)
	}
	return protocol.InstantOf(t), nil
}

// parseLimit reads a time limit, [days-][[hours:]minutes:]seconds, as squeue,
// sinfo and scontrol print it. It is [protocol.Never] where there is none.
func parseLimit(text string) (protocol.Duration, error) {
	switch text {
	case "UNLIMITED", "infinite", "INFINITE", "NOT_SET", "INVALID", "Partition_Limit", "n/a":
		return protocol.Never, nil
	}
	bad := fmt.Errorf("%q is not a time limit as Slurm prints it", text)
	days, clock, dashed := strings.Cut(text, "-")
	if !dashed {
		days, clock = "0", text
	}
	parts := strings.Split(clock, ":")
	if len(parts) < 2 || len(parts) > 3 || dashed && len(parts) == 2 {
		return 0, bad
	}
	d, err := parseCount(days, maxLimit)
	if err != nil {
		return 0, bad
	}
	seconds := 0
	for _, part := range parts {
		n, err := parseCount(part, maxLimit)
		if err != nil {
			return 0, bad
		}
		seconds = 60*seconds + n
	}
	return protocol.Duration(d)*protocol.Day + protocol.Duration(seconds)*protocol.Second, nil
}

// maxLimit is the largest number in a time limit: Slurm counts minutes in 32
// bits.
const maxLimit = 1 << 32

// parseCount reads a decimal number from 0 to most.
func parseCount(text string, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > most || text[0] == '+' {
		return 0, fmt.Errorf("%q is not a number from 0 to %d", text, most)
	}
	return n, nil
}

// parseMegabytes reads an amount of memory as a list of TRES has it, a number with
// decimals or not and a unit, such as "1.50G"; without a unit it is in MB.
func parseMegabytes(text string) (int64, error) {
	digits := strings.TrimRight(text, "KMGTP")
	whole, decimals, _ := strings.Cut(digits, ".")
	n, err := parseCount(whole, 1<<30)
	thousandths, bad := 0, err
	if decimals != "" {
		thousandths, bad = parseCount((decimals + "000")[:3], 999)
	}
	if err != nil || bad != nil || len(decimals) > 3 || len(text)-len(digits) > 1 {
		return 0, fmt.Errorf("%.50q is no amount of memory as Slurm prints it", text)
	}
	amount := int64(n)*1000 + int64(thousandths)
	switch text[len(digits):] {
	case "K":
		amount >>= 10
	case "G":
		amount <<= 10
	case "T":
		amount <<= 20
	case "P":
		amount = min(amount, 1<<32) << 30
	}
	return amount / 1000, nil
}

// parseExit reads "code:signal".
func parseExit(text string) (code, signal int, err error) {
	left, right, _ := strings.Cut(text, ":")
	if code, err = parseCount(left, 1<<16); err == nil {
		signal, err = parseCount(right, 1<<16)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("%q is not an exit code as Slurm prints it, code:signal", text)
	}
	return code, signal, nil
}
