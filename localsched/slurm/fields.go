package slurm

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/decimal"
	"github.com/switchyard-hpc/switchyard/internal/quantity"
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

// parseLimit reads a time limit as squeue, sinfo and scontrol print it. It is
// [protocol.Never] where there is none.
func parseLimit(text string) (protocol.Duration, error) {
	switch text {
	case "NOT_SET", "INVALID", "Partition_Limit", "n/a":
		return protocol.Never, nil
	}
	limit, err := quantity.ParseTimeLimit(text)
	if err != nil {
		return 0, fmt.Errorf("the time limit that Slurm printed: %.50q %w", text, err)
	}
	return limit, nil
}

// parseCount reads a decimal number from 0 to most.
func parseCount(text string, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > most || text[0] == '+' {
		return 0, fmt.Errorf("%q is not a number from 0 to %d", text, most)
	}
	return n, nil
}

// parseMegabytes reads an amount of memory as a list of TRES has it, a number with
// decimals or not and a unit, such as "1.50G"; without a unit it is in MB. It is
// rounded down.
func parseMegabytes(text string) (int64, error) {
	form := quantity.Size{Bare: quantity.Mega, In: quantity.Mega, Max: 1 << 50, Decimals: printedDecimals, Rounding: decimal.TowardZero}
	mb, err := form.Parse(text)
	if err != nil {
		return 0, fmt.Errorf("the memory that Slurm printed: %.50q %w", text, err)
	}
	return mb, nil
}

// printedDecimals is how many decimals sizes that Slurm prints may have; it prints two.
const printedDecimals = 3

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
