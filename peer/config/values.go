package config

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/settings"
)

// Megabytes is an amount of memory; 1 GB is 1024 MB.
type Megabytes int64 //nolint:recvcheck // it is changed where it is read, and printed by value

// memoryUnit returns how many megabytes a unit has.
func memoryUnit(name string) (mb int64, ok bool) {
	switch strings.ToUpper(strings.TrimSpace(name)) {
	case "MB", "M", "MIB":
		return 1, true
	case "GB", "G", "GIB":
		return 1 << 10, true
	case "TB", "T", "TIB":
		return 1 << 20, true
	}
	return 0, false
}

// UnmarshalTOML reads "512MB", "4GB", "2TB", or a number of megabytes. It
// implements [settings.Unmarshaler].
func (m *Megabytes) UnmarshalTOML(raw any) error {
	switch raw := raw.(type) {
	case int64:
		if raw < 0 {
			return errors.New("is negative; sizes are 0 or more")
		}
		*m = Megabytes(raw)
		return nil
	case string:
		end := strings.IndexFunc(raw, func(r rune) bool { return r < '0' || r > '9' })
		n, err := strconv.ParseInt(raw[:max(0, end)], 10, 64)
		mb, ok := memoryUnit(raw[max(0, end):])
		if err != nil || !ok || n > math.MaxInt64/mb {
			return errors.New(`is no size; write a number and a unit of MB, GB or TB, as "512MB" or "4GB"`)
		}
		*m = Megabytes(n * mb)
		return nil
	}
	return settings.Mismatch(raw, `a size, as "512MB" or "4GB", or a number of megabytes`)
}

// TOML prints what UnmarshalTOML reads. It implements [settings.Literal].
func (m Megabytes) TOML() string {
	switch {
	case m > 0 && m%(1<<20) == 0:
		return fmt.Sprintf(`"%dTB"`, m>>20)
	case m > 0 && m%(1<<10) == 0:
		return fmt.Sprintf(`"%dGB"`, m>>10)
	}
	return fmt.Sprintf(`"%dMB"`, m)
}
