package gamma_test

import (
	"encoding/csv"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// site is a row of examples/iss/park.csv.
type site struct {
	name     protocol.SiteName
	machine  protocol.Machine
	cpus     int
	memoryMB int64   // per CPU
	watts    float64 // of a CPU
	price    float64 // CHF per CPU-hour
}

// class is a row of examples/iss/classes.csv.
type class struct {
	name     string
	cpus     int
	cases    int   // components of an application, all alike
	memoryMB int64 // per CPU
	behavior protocol.Behavior
	lands    []string
}

// table reads a file of examples/iss: the rows' fields by the names of their columns.
func table(t testing.TB, name string) []map[string]string {
	t.Helper()
	file, err := os.Open("../../../examples/iss/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	records, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]string
	for _, record := range records[1:] {
		row := make(map[string]string)
		for i, column := range records[0] {
			row[column] = record[i]
		}
		rows = append(rows, row)
	}
	return rows
}

func number(t testing.TB, row map[string]string, column string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(row[column], 64)
	if err != nil {
		t.Fatalf("%s %q: %v", column, row[column], err)
	}
	return n
}

func park(t testing.TB) []site {
	t.Helper()
	const bytesPerWord = 8
	var sites []site
	for _, row := range table(t, "park.csv") {
		of := func(column string) float64 { return number(t, row, column) }
		sites = append(sites, site{
			name: protocol.SiteName(row["site"]),
			machine: protocol.Machine{
				Flops: int64(1e9 * of("peak_gflops")), Words: int64(1e9 * of("memory_gb_s") / bytesPerWord),
				Network: int64(1e6 * of("network_mb_s") / bytesPerWord), Latency: int64(1e3 * of("latency_us")),
				Bus: row["bus"] == "true",
			},
			cpus:     int(of("cpus")),
			memoryMB: int64(of("memory_mb_per_node") / of("cpus_per_node")),
			watts:    of("watts_per_cpu"), price: of("chf_per_cpu_hour"),
		})
	}
	return sites
}

func classes(t testing.TB) []class {
	t.Helper()
	var found []class
	for _, row := range table(t, "classes.csv") {
		of := func(column string) int64 { return int64(number(t, row, column)) }
		found = append(found, class{
			name: row["class"], cpus: int(of("cpus")), cases: int(of("cases")), memoryMB: of("memory_mb_per_cpu"),
			behavior: protocol.Behavior{
				Mflop: of("mflop"), Mwords: of("mwords"), Sent: of("sent_words"), Messages: of("messages"),
				CPUs: int(of("cpus")), Scaling: protocol.Scaling(row["scaling"]),
			},
			lands: strings.Fields(row["lands"]),
		})
	}
	return found
}
