package daemon

import (
	"context"
	"net"
	"strconv"
	"time"
)

// Manager is the service manager that started the program, if one did and wants to hear of it;
// see sd_notify(3).
type Manager struct {
	socket   string
	watchdog time.Duration // how often it wants to hear; 0: never
}

// ManagerOf finds the service manager in the environment of a process.
func ManagerOf(getenv func(string) string, pid int) Manager {
	m := Manager{socket: getenv("NOTIFY_SOCKET")}
	usec, err := strconv.ParseInt(getenv("WATCHDOG_USEC"), 10, 64)
	forOther := getenv("WATCHDOG_PID") != "" && getenv("WATCHDOG_PID") != strconv.Itoa(pid)
	if m.socket != "" && err == nil && usec > 0 && !forOther {
		m.watchdog = time.Duration(usec) * time.Microsecond / 2
	}
	return m
}

// say sends a message such as "READY=1". The manager finds out by itself when
// it does not arrive.
func (m Manager) say(ctx context.Context, message string) {
	if m.socket == "" {
		return
	}
	address := m.socket
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
func (m Manager) watch(ctx context.Context, alive func(context.Context) error) {
	if m.watchdog == 0 {
		return
	}
	tick := time.NewTicker(m.watchdog)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		probe, cancel := context.WithTimeout(ctx, m.watchdog)
		if alive(probe) == nil {
			m.say(ctx, "WATCHDOG=1")
		}
		cancel()
	}
}
