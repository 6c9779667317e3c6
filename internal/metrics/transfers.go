package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Transfer is how many bytes of files were moved from and to a partner since it was configured as
// it is, and how many connections are open on which this site fetches.
type Transfer struct {
	Partner                   protocol.SiteName
	Sent, Fetched             uint64 // over direct connections
	SentByNATS, FetchedByNATS uint64
	Streams                   int
}

// WatchTransfers adds the counters of files, read at each scrape.
func (m *Metrics) WatchTransfers(read func() []Transfer) {
	m.registry.MustRegister(&transfers{
		read:    read,
		bytes:   desc("transfer_bytes_total", "Bytes of files sent to and received from the partner, over direct connections or in NATS messages.", "partner", "direction", "path"),
		streams: desc("transfer_streams", "Open direct connections over which files are fetched from the partner.", "partner"),
	})
}

// transfers collects at each scrape.
type transfers struct {
	read           func() []Transfer
	bytes, streams *prometheus.Desc
}

// Describe implements [prometheus.Collector].
func (t *transfers) Describe(out chan<- *prometheus.Desc) {
	out <- t.bytes
	out <- t.streams
}

// Collect implements [prometheus.Collector].
func (t *transfers) Collect(out chan<- prometheus.Metric) {
	for _, one := range t.read() {
		partner := string(one.Partner)
		count := func(bytes uint64, direction, path string) {
			out <- prometheus.MustNewConstMetric(t.bytes, prometheus.CounterValue, float64(bytes), partner, direction, path)
		}
		count(one.Sent, "sent", "direct")
		count(one.Fetched, "received", "direct")
		count(one.SentByNATS, "sent", "nats")
		count(one.FetchedByNATS, "received", "nats")
		out <- prometheus.MustNewConstMetric(t.streams, prometheus.GaugeValue, float64(one.Streams), partner)
	}
}
