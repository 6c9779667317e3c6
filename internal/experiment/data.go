package experiment

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/switchyard-hpc/switchyard/internal/decimal"
	"github.com/switchyard-hpc/switchyard/internal/quantity"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Data is what travels with jobs that leave their site ([MC] equation 10).
type Data struct {
	Size      Bytes             `toml:"size"`  // of each job; 0: nothing travels
	Sizes     []Bytes           `toml:"sizes"` // of which one is drawn for each job, instead
	Bandwidth config.Bandwidth  `toml:"bandwidth"`
	Latency   protocol.Duration `toml:"latency"`
	PerGB     settings.Amount   `toml:"per_gb"`   // what the way costs the site where a job comes from
	PerHour   settings.Amount   `toml:"per_hour"` // the same, while data travel
	Links     []DataLink        `toml:"link"`
}

// DataLink is the way of data between two sites, or one and all others, instead.
type DataLink struct {
	A         string            `toml:"a"`
	B         string            `toml:"b"` // empty: all sites
	Bandwidth config.Bandwidth  `toml:"bandwidth"`
	Latency   protocol.Duration `toml:"latency"`
	PerGB     settings.Amount   `toml:"per_gb"`
	PerHour   settings.Amount   `toml:"per_hour"`
}

// Bytes is an amount of data.
type Bytes int64 //nolint:recvcheck // it is changed where it is read, and printed by value

// dataSizes is the form of amounts of data. A job has at most ten million GB.
func dataSizes() quantity.Size {
	return quantity.Size{
		Units: quantity.SI, In: quantity.Byte, Max: 10_000_000_000_000_000, Decimals: quantity.MaxDecimals, Rounding: decimal.Nearest,
	}
}

// UnmarshalTOML reads "10GB" or "1.5TB", or "0". It implements [settings.Unmarshaler].
func (b *Bytes) UnmarshalTOML(raw any) error {
	text, ok := raw.(string)
	if !ok {
		return settings.Mismatch(raw, `an amount of data in quotes, as "10GB" or "1.5TB"`)
	}
	read, err := dataSizes().Parse(text)
	if err == nil {
		*b = Bytes(read)
	}
	return err
}

// TOML prints what UnmarshalTOML reads. It implements [settings.Literal].
func (b Bytes) TOML() string { return strconv.Quote(dataSizes().Text(int64(b))) }

// stage is how data travel in a simulation. Without a bandwidth they take no time and cost nothing.
func (p *Plan) stage() sim.Stage {
	if p.Data.Bandwidth == 0 {
		return sim.Stage{}
	}
	all := make([][]sim.DataLink, len(p.Sites))
	for i := range all {
		all[i] = make([]sim.DataLink, len(p.Sites))
		for j := range all[i] {
			all[i][j] = sim.DataLink{
				Latency: p.Data.Latency, Bandwidth: int64(p.Data.Bandwidth),
				PerGB: protocol.Micro(p.Data.PerGB), PerHour: protocol.Micro(p.Data.PerHour),
			}
		}
	}
	for _, link := range p.Data.Links {
		a, b := p.site(link.A), p.site(link.B)
		way := sim.DataLink{
			Latency: link.Latency, Bandwidth: int64(link.Bandwidth), PerGB: protocol.Micro(link.PerGB), PerHour: protocol.Micro(link.PerHour),
		}
		for other := range all {
			if link.B == "" || other == b {
				all[a][other], all[other][a] = way, way
			}
		}
	}
	return sim.Stage{Sizes: p.Data.sizes(), Links: all}
}

// sizes are those that jobs may have, in bytes.
func (d *Data) sizes() []int64 {
	if len(d.Sizes) == 0 {
		return []int64{int64(d.Size)}
	}
	sizes := make([]int64, len(d.Sizes))
	for i, size := range d.Sizes {
		sizes[i] = int64(size)
	}
	return sizes
}

// travel says whether any job of the workloads has data.
func (d *Data) travel() bool { return slices.Max(d.sizes()) > 0 }

// described says whether anything is said of the way of data, besides their bandwidth.
func (d *Data) described() bool {
	return d.Latency != 0 || d.PerGB != 0 || d.PerHour != 0 || len(d.Links) > 0
}

func (p *Plan) checkData(c *checker) {
	c.span("data.latency", p.Data.Latency, 0)
	c.price("data.per_gb", p.Data.PerGB)
	c.price("data.per_hour", p.Data.PerHour)
	if p.Data.Size > 0 && len(p.Data.Sizes) > 0 {
		c.Problem("data.sizes", "has no effect with size; leave one of the two out")
	}
	requests := slices.ContainsFunc(p.Workloads, func(w Workload) bool { return w.Requests != "" })
	if !p.Data.travel() && len(p.Applications) == 0 && !requests {
		c.idle("data", "data of size 0", []idleKey{
			{"bandwidth", p.Data.Bandwidth != 0},
			{"latency", p.Data.Latency != 0},
			{"link", len(p.Data.Links) > 0},
			{"per_gb", p.Data.PerGB != 0},
			{"per_hour", p.Data.PerHour != 0},
		})
		return
	}
	if p.Data.Bandwidth == 0 && (p.Data.travel() || p.Data.described()) { // without it nothing travels
		c.Problem("data.bandwidth", "is missing; say how fast data travel, as \"125MB/s\"")
	}
	for i, link := range p.Data.Links {
		key := fmt.Sprintf("data.link[%d]", i)
		p.knownPair(c, key, link.A, link.B)
		c.span(key+".latency", link.Latency, 0)
		c.price(key+".per_gb", link.PerGB)
		c.price(key+".per_hour", link.PerHour)
		if link.Bandwidth == 0 {
			c.Problem(key+".bandwidth", "is missing; say how fast data travel, as \"125MB/s\"")
		}
	}
}
