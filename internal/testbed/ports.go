package testbed

import (
	"errors"
	"fmt"
	"io"
	"net"
)

// freePorts finds n addresses on loopback that are free for TCP and UDP now.
func freePorts(n int) (addresses []string, err error) {
	// All are held until all are found, so that none is found twice.
	var held []io.Closer
	defer func() {
		for _, closer := range held {
			err = errors.Join(err, closer.Close())
		}
	}()
	const tries = 20
	for range n + tries {
		tcp, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		held = append(held, tcp)
		same, err := net.ResolveUDPAddr("udp", tcp.Addr().String())
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		udp, err := net.ListenUDP("udp", same)
		if err != nil {
			continue
		}
		held = append(held, udp)
		if addresses = append(addresses, tcp.Addr().String()); len(addresses) == n {
			return addresses, nil
		}
	}
	return nil, fmt.Errorf("found no %d ports that are free for TCP and UDP", n)
}
