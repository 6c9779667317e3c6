package main

import (
	"context"
	"net"
	"strconv"
	"time"
)

// notifier talks to a service manager that started the peer, if one did; see
// sd_notify(3).
type notifier struct {
	socket   string
	watchdog time.Duration // how often it wants to hear; 0: never
}

func newNotifier(getenv func(string) string, pid int) notifier {
	n := notifier{socket: getenv("NOTIFY_SOCKET")}
	usec, err := strconv.ParseInt(getenv("WATCHDOG_USEC"), 10, 64)
	forOther := getenv("WATCHDOG_PID") != "" && getenv("WATCHDOG_PID") != strconv.Itoa(pid)
	if n.socket != "" && err == nil && usec > 0 && !forOther {
		n.watchdog = time.Duration(usec) * time.Microsecond / 2
	}
	return n
}

// say sends a message such as "READY=1". The manager finds out by itself when
// it does not arrive.
func (n notifier) say(ctx context.Context, message string) {
	if n.socket == "" {
		return
	}
	address := n.socket
	if address[0] == '@' {
		address = "\x00" + address[1:] // an abstract socket
	}
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "unixgram", address)
	if err != nil {
		return
	}
	defer conn.Close()                 //nolint:errcheck // nothing more is to be said
	_, _ = conn.Write([]byte(message)) // see above
}

// watch reports that the peer is well, as long as alive says so, until ctx ends.
func (n notifier) watch(ctx context.Context, alive func(context.Context) error) {
	if n.watchdog == 0 {
		return
	}
	tick := time.NewTicker(n.watchdog)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		probe, cancel := context.WithTimeout(ctx, n.watchdog)
		if alive(probe) == nil {
			n.say(ctx, "WATCHDOG=1")
		}
		cancel()
	}
}
