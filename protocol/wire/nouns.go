package wire

import (
	"fmt"
	"math"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Share checks a part of a whole in parts per million.
func Share[T int | int64](field string, ppm T) error {
	if ppm < 0 || ppm > protocol.PPM {
		return fmt.Errorf("%s: %d is outside 0 to %d", field, ppm, protocol.PPM)
	}
	return nil
}

// Power checks what a job draws, in parts per million of what a site states.
func Power[T int | int64](field string, ppm T) error {
	if ppm < 0 || ppm > protocol.MaxPower {
		return fmt.Errorf("%s: %d is outside 0 to %d", field, ppm, protocol.MaxPower)
	}
	return nil
}

// Foreseen checks how a job is likely to run, as its origin says to the site that may
// run it.
func Foreseen(s *protocol.Spec) error {
	return First(
		Amount("expected_ms", s.Expected),
		Share("intensity_ppm", s.Intensity),
		Share("computing_ppm", s.Computing),
		Power("draws_ppm", s.Draws),
	)
}

// Licences checks what licences a job uses: each once, sorted by name, so that equal
// lists are the same.
func Licences(field string, list []protocol.Licence) error {
	if err := AtMost(field, len(list), MaxLicences); err != nil {
		return err
	}
	for i, one := range list {
		if err := First(Required("name", one.Name, MaxName), Text("name", one.Name, MaxName), licences(one.Count)); err != nil {
			return fmt.Errorf("%s[%d]: %w", field, i, err)
		}
		if i > 0 && list[i-1].Name >= one.Name {
			return fmt.Errorf("%s[%d]: name: %q does not sort after %q", field, i, one.Name, list[i-1].Name)
		}
	}
	return nil
}

func licences(n int) error {
	if n < 1 || n > math.MaxInt32 {
		return fmt.Errorf("count: %d is outside 1 to %d", n, math.MaxInt32)
	}
	return nil
}

// Machine checks a CPU as the Γ model sees it.
func Machine(field string, m protocol.Machine) error {
	return In(field, First(
		Amount("flops", m.Flops),
		Amount("words", m.Words),
		Amount("network", m.Network),
		Amount("latency_ns", m.Latency),
	))
}

// Usage checks what a job was measured to do.
func Usage(field string, u protocol.Usage) error {
	return In(field, First(
		Amount("cpu_ms", u.CPU),
		Amount("memory_mb", u.MemoryMB),
		Amount("energy_mj", u.Energy),
		Amount("mflop", u.Mflop),
		Amount("mwords", u.Mwords),
		Amount("sent", u.Sent),
		Amount("messages", u.Messages),
		Count("mhz", u.MHz),
		Power("power_ppm", u.Power),
	))
}
