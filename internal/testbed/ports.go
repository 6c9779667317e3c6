package testbed

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
)

// Ports of grids are below those that systems take for outgoing connections, one of which could
// be where a peer listened that is stopped and started again, and above those of the test clusters
// of Slurm.
const firstPort, lastPort = 22000, 32000

// given are the ports that were found in this process.
var given struct { //nolint:gochecknoglobals // ports are the process's
	sync.Mutex

	ports map[int]bool
}

// FreePorts finds n addresses on loopback that are free for TCP and UDP now, each for one caller
// only.
func FreePorts(n int) (addresses []string, err error) {
	given.Lock()
	defer given.Unlock()
	if given.ports == nil {
		given.ports = make(map[int]bool)
	}
	// All are held until all are found, so that none is found twice by several processes.
	var held []io.Closer
	defer func() {
		for _, closer := range held {
			err = errors.Join(err, closer.Close())
		}
	}()
	const tries = 1000
	for range tries {
		port := firstPort + rand.IntN(lastPort-firstPort)
		if given.ports[port] {
			continue
		}
		tcp, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
		if err != nil {
			continue
		}
		held = append(held, tcp)
		udp, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
		if err != nil {
			continue
		}
		held = append(held, udp)
		given.ports[port] = true
		if addresses = append(addresses, tcp.Addr().String()); len(addresses) == n {
			return addresses, nil
		}
	}
	return nil, fmt.Errorf("found no %d ports from %d to %d that are free for TCP and UDP", n, firstPort, lastPort-1)
}
