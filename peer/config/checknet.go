package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/peer/transfer"
)

// checkNATS also settles what [nats] listen is when only url is set.
func (r *checker) checkNATS(n *NATS) {
	if n.URL == "" {
		r.onlyExternal(n)
		if n.Listen != "" {
			r.checkAddress("nats.listen", n.Listen)
		}
		return
	}
	if r.Set("nats.listen") && n.Listen != "" {
		r.Problem("nats.listen", "excludes url; keep listen for the embedded server, or url for an external NATS system")
	}
	n.Listen = ""
	for i, one := range strings.Split(n.URL, ",") {
		if err := CheckURL(strings.TrimSpace(one)); err != nil {
			r.Problem(fmt.Sprintf("nats.url[%d]", i), "%v", err)
		}
	}
	var ways []string
	for _, way := range []struct {
		name string
		path settings.Path
	}{{"creds", n.Creds}, {"nkey", n.Nkey}, {"token", n.Token}} {
		if way.path != "" {
			ways = append(ways, way.name)
		}
	}
	if len(ways) > 1 {
		r.Problem("nats."+ways[1], "%s exclude each other; keep the one that the NATS system asks for", strings.Join(ways, " and "))
	}
}

// onlyExternal reports keys that serve an external NATS system alone.
func (r *checker) onlyExternal(n *NATS) {
	for _, key := range []struct {
		name string
		path settings.Path
	}{{"creds", n.Creds}, {"nkey", n.Nkey}, {"token", n.Token}, {"ca", n.CA}} {
		if key.path != "" {
			r.Problem("nats."+key.name, "has no effect without url; remove it (the embedded server identifies partners by their public keys)")
		}
	}
}

func (r *checker) checkTransfer(t *Transfer) {
	if t.Streams < 0 || t.Streams > transfer.MaxStreams {
		r.Problem("transfer.streams", "is %d; use 0 to %d", t.Streams, transfer.MaxStreams)
	}
	r.checkFileRate("transfer.max_rate", t.MaxRate)
}

// checkFileRate checks a limit of the rate of files.
func (r *checker) checkFileRate(key string, most Bandwidth) {
	if most > 0 && most < transfer.MinRate {
		r.Problem(key, "is less than %s; set a higher limit, or none", Bandwidth(transfer.MinRate).words())
	}
}

func (r *checker) checkGossip(g *Gossip) {
	if g.Keyring == "" {
		r.Problem("gossip.keyring", "is missing; create a keyring with \"switchyard keygen --gossip PATH\", copy it to all sites, and set its path")
	}
	r.Positive("gossip.announce_interval", g.AnnounceInterval)
	r.Positive("gossip.rejoin_interval", g.RejoinInterval)
	for i, seed := range g.Join {
		if err := checkHostPort(seed); err != nil {
			r.Problem(fmt.Sprintf("gossip.join[%d]", i), "%v", err)
		}
	}
	bind, err := netip.ParseAddrPort(g.Bind)
	if err != nil {
		r.Problem("gossip.bind", "%q is not an IP address and a port, as 192.0.2.7:7601", g.Bind)
		return
	}
	if g.Advertise == "" {
		if bind.Addr().IsUnspecified() {
			r.Problem("gossip.advertise", "is missing, and bind is a wildcard address; set the IP address and port at which other sites reach this one")
		}
		return
	}
	advertise, err := netip.ParseAddrPort(g.Advertise)
	if err != nil || advertise.Addr().IsUnspecified() || advertise.Port() == 0 {
		r.Problem("gossip.advertise", "%q is not an IP address and port that other sites can reach, as 192.0.2.7:7601", g.Advertise)
	}
}

// checkAddress checks an address to listen on.
func (r *checker) checkAddress(key, address string) {
	if err := checkHostPort(address); err != nil {
		r.Problem(key, "%v", err)
	}
}

func checkHostPort(address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return fmt.Errorf("%q is not of the form host:port, with a number for the port", address)
	}
	return nil
}

// CheckURL says what is wrong with the URL of a server of partners, if anything.
func CheckURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "nats" && u.Scheme != "tls") || u.Hostname() == "" {
		return fmt.Errorf("%q is not of the form nats://host:port", text)
	}
	if u.Port() == "" {
		return fmt.Errorf("%q has no port; write nats://%s:7501, or what the server listens on", text, u.Hostname())
	}
	if u.User != nil {
		return fmt.Errorf("the URL of %s contains a user or password; remove it, servers know sites by their keys", u.Host)
	}
	return nil
}

// checkPorts reports two servers of this peer at one port.
func (r *checker) checkPorts() {
	type server struct{ key, address string }
	servers := []server{{"nats.listen", r.config.NATS.Listen}, {"metrics.listen", r.config.Metrics.Listen}, {"api.listen", r.config.API.Listen}}
	if r.config.Gossip != nil {
		servers = append(servers, server{"gossip.bind", r.config.Gossip.Bind})
	}
	for i, one := range servers {
		for _, other := range servers[:i] {
			if !clash(one.address, other.address) {
				continue
			}
			if !r.Set(one.key) { // the other one is what was changed
				one, other = other, one
			}
			r.Problem(one.key, "%s clashes with %s (%s); give each its own port", one.address, other.key, other.address)
		}
	}
}

// clash reports whether two listeners cannot have these addresses at the same time.
func clash(a, b string) bool {
	hostA, portA, errA := net.SplitHostPort(a)
	hostB, portB, errB := net.SplitHostPort(b)
	if errA != nil || errB != nil || portA != portB || portA == "0" {
		return false
	}
	return hostA == hostB || everywhere(hostA) || everywhere(hostB)
}

func everywhere(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "" || (err == nil && ip.IsUnspecified())
}
