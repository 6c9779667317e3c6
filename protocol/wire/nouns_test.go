package wire_test

import (
	"math"
	"testing"

	"github.com/switchyard-hpc/switchyard/protocol"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

func TestChecksOfNouns(t *testing.T) {
	t.Parallel()
	licences := func(list ...protocol.Licence) error { return wire.Licences("licences", list) }
	cases := []struct {
		name string
		err  error
		want string
	}{
		{"text", wire.Text("note", "größe", 7), ""},
		{"long text", wire.Text("note", "größe", 6), "note: has 7 entries or bytes, at most 6 are allowed"},
		{"no text", wire.Text("note", "\xff", 6), "note: is not UTF-8"},
		{"nothing", wire.Share("part", 0), ""},
		{"all", wire.Share("part", protocol.PPM), ""},
		{"more than all", wire.Share("part", int64(protocol.PPM)+1), "part: 1000001 is outside 0 to 1000000"},
		{"less than nothing", wire.Share("part", -1), "part: -1 is outside 0 to 1000000"},
		{"nothing foreseen", wire.Foreseen(&protocol.Spec{}), ""},
		{"foreseen", wire.Foreseen(&protocol.Spec{Expected: 1, Intensity: protocol.PPM, Computing: protocol.PPM}), ""},
		{"draws more than anything", wire.Foreseen(&protocol.Spec{Draws: protocol.MaxPower + 1}), "draws_ppm: 100000001 is outside 0 to 100000000"},
		{"expected before", wire.Foreseen(&protocol.Spec{Expected: -1}), "expected_ms: -1 is negative"},
		{"no licences", licences(), ""},
		{"licences", licences(protocol.Licence{Name: "a", Count: 1}, protocol.Licence{Name: "b", Count: math.MaxInt32}), ""},
		{"none of a licence", licences(protocol.Licence{Name: "a"}), "licences[0]: count: 0 is outside 1 to 2147483647"},
		{"a licence without a name", licences(protocol.Licence{Count: 1}), "licences[0]: name: is missing"},
		{
			"licences that are not sorted", licences(protocol.Licence{Name: "b", Count: 1}, protocol.Licence{Name: "a", Count: 1}),
			`licences[1]: name: "a" does not sort after "b"`,
		},
		{"many licences", wire.Licences("licences", make([]protocol.Licence, 17)), "licences: has 17 entries or bytes, at most 16 are allowed"},
		{"no machine", wire.Machine("machine", protocol.Machine{}), ""},
		{"machine", wire.Machine("machine", protocol.Machine{Latency: -1}), "machine: latency_ns: -1 is negative"},
		{"not measured", wire.Usage("usage", protocol.Usage{}), ""},
		{"measured", wire.Usage("usage", protocol.Usage{CPU: math.MaxInt64, MHz: math.MaxInt32}), ""},
		{"drew less than nothing", wire.Usage("usage", protocol.Usage{Power: -1}), "usage: power_ppm: -1 is outside 0 to 100000000"},
		{"energy won", wire.Usage("usage", protocol.Usage{Energy: -1}), "usage: energy_mj: -1 is negative"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			says(t, c.err, c.want)
		})
	}
}
