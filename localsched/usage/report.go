package usage

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/decimal"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// MaxReport is how long a report may be, in bytes.
const MaxReport = 4096

// The keys of a report.
const (
	keyOperations = "operations" // flop, of all CPUs together
	keyAccesses   = "accesses"   // 64-bit words to and from main memory, of all CPUs together
	keySent       = "sent"       // 64-bit words that each CPU has sent
	keyMessages   = "messages"   // that each CPU has sent
)

// ReadReport reads what a run says itself that it did, the numbers of which only the program
// knows: counted by PAPI, by mpiP, or by its author. Lines are "key = number", empty, or
// comments that begin with #; every key is there once at most.
//
//	operations = 3.2e12   # flop, of all CPUs together
//	accesses = 1.1e12     # 64-bit words to and from main memory, of all CPUs together
//	sent = 4e9            # 64-bit words that each CPU has sent
//	messages = 12000      # messages that each CPU has sent
//
// Time, memory and energy are no keys: they are measured, and the power that is predicted for
// the next run must not depend on what a run says. An error names every line that is wrong,
// and then nothing of the report counts: a part of it would be recorded as the whole.
func ReadReport(from io.Reader) (protocol.Usage, error) {
	data, err := io.ReadAll(io.LimitReader(from, MaxReport+1))
	if err != nil {
		return protocol.Usage{}, err
	}
	if len(data) > MaxReport {
		return protocol.Usage{}, fmt.Errorf("the report is longer than %d bytes; write each key once, at the end of the run", MaxReport)
	}
	var u protocol.Usage
	var errs []error
	given, number := map[string]bool{}, 0
	for line := range strings.Lines(string(data)) {
		number++
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if wrong := addLine(&u, given, line); wrong != nil {
			errs = append(errs, fmt.Errorf("line %d: %w", number, wrong))
		}
	}
	if err = errors.Join(errs...); err != nil {
		return protocol.Usage{}, err
	}
	return u, nil
}

// TakeReport reads and closes what a job was given to report in, as it was opened. That
// there is no such file is no report and no error.
func TakeReport(file io.ReadCloser, err error) (protocol.Usage, error) {
	if errors.Is(err, fs.ErrNotExist) {
		return protocol.Usage{}, nil
	}
	if err != nil {
		return protocol.Usage{}, err
	}
	u, err := ReadReport(file)
	return u, errors.Join(err, file.Close())
}

// Prefer is what the first tells, and where that tells nothing, the second.
func Prefer(first, second protocol.Usage) protocol.Usage {
	return protocol.Usage{
		CPU:      cmp.Or(first.CPU, second.CPU),
		MemoryMB: cmp.Or(first.MemoryMB, second.MemoryMB),
		Energy:   cmp.Or(first.Energy, second.Energy),
		Mflop:    cmp.Or(first.Mflop, second.Mflop),
		Mwords:   cmp.Or(first.Mwords, second.Mwords),
		Sent:     cmp.Or(first.Sent, second.Sent),
		Messages: cmp.Or(first.Messages, second.Messages),
		MHz:      cmp.Or(first.MHz, second.MHz),
		Power:    cmp.Or(first.Power, second.Power),
	}
}

// addLine reads a line "key = number".
func addLine(u *protocol.Usage, given map[string]bool, line string) error {
	key, text, ok := strings.Cut(line, "=")
	key, text = strings.TrimSpace(key), strings.TrimSpace(text)
	keys := []string{keyOperations, keyAccesses, keySent, keyMessages}
	switch {
	case !ok:
		return fmt.Errorf("%.40q is not key = number", line)
	case !slices.Contains(keys, key):
		return fmt.Errorf("the key %.40q is unknown; there are %s", key, strings.Join(keys, ", "))
	case given[key]:
		return fmt.Errorf("duplicate key %s; have one process write for all", key)
	}
	given[key] = true
	power := 0
	if key == keyOperations || key == keyAccesses {
		power = 6 // millions
	}
	value, err := parseAmount(text, power)
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	switch key {
	case keyOperations:
		u.Mflop = value
	case keyAccesses:
		u.Mwords = value
	case keySent:
		u.Sent = value
	case keyMessages:
		u.Messages = value
	}
	return nil
}

// parseAmount reads a decimal number that is not negative, such as 12000 or 3.2e12, and
// counts it in units of a power of ten, to the nearest. What is more than 0 stays so, because 0 says that
// nothing was measured.
func parseAmount(text string, power int) (int64, error) {
	const most = 1e18 // units, so that they fit
	form := decimal.Form{Scale: -power, Max: most, Scientific: true, Rounding: decimal.Nearest}
	value, err := form.Parse(text)
	if err == nil && value == 0 {
		form.Rounding = decimal.AwayFromZero
		value, err = form.Parse(text)
	}
	switch {
	case err == nil:
		return value, nil
	case errors.Is(err, decimal.ErrNegative):
		return 0, fmt.Errorf("%.40s is negative", text)
	case errors.Is(err, decimal.ErrRange):
		return 0, fmt.Errorf("%.40s is more than %g", text, most*math.Pow10(power))
	}
	return 0, fmt.Errorf("%.40q is no number; write it as 12000 or 3.2e12", text)
}
