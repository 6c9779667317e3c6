package config

import (
	"net/netip"
	"net/url"
	"path"
)

func (r *checker) checkNotify(n *Notify) {
	if n == nil {
		return
	}
	if len(n.Command) == 0 && n.URL == "" {
		r.Problem("notify", "has neither command nor url; set command or url, or remove the table")
	}
	if len(n.Command) > 0 && !path.IsAbs(n.Command[0]) {
		r.Problem("notify.command", "is %q; give the absolute path of a command and its arguments", n.Command)
	}
	if n.Token != "" && n.URL == "" {
		r.Problem("notify.token", "is for url, which is not set")
	}
	if n.URL != "" {
		r.checkNotifyURL(n)
	}
}

// checkNotifyURL allows http to this machine alone: notices name users and jobs.
func (r *checker) checkNotifyURL(n *Notify) {
	address, err := url.Parse(n.URL)
	switch {
	case err != nil || address.Host == "" || address.Scheme != "https" && address.Scheme != "http":
		r.Problem("notify.url", "is not a URL such as https://chat.example.org/hooks/switchyard")
	case address.User != nil:
		r.Problem("notify.url", "has a password in it; put a token into a file and name it as token")
	case address.Scheme == "http" && !isLoopback(address.Hostname()):
		r.Problem("notify.url", "sends the names of users and jobs unencrypted to %s; use https", address.Hostname())
	}
}

func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}
