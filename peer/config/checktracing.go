package config

import "net/url"

func (r *checker) checkTracing(t *Tracing) {
	switch {
	case t == nil:
		return
	case t.Endpoint == "" && t.File == "":
		r.Problem("tracing", "has neither endpoint nor file; set one of them, or remove the table")
	case t.Endpoint != "" && t.File != "":
		r.Problem("tracing.file", "is set, and endpoint as well; remove one of them: a collector can write files, too")
	}
	if t.Endpoint == "" {
		if t.CA != "" {
			r.Problem("tracing.ca", "is for endpoint, which is not set")
		}
		if t.Headers != "" {
			r.Problem("tracing.headers", "is for endpoint, which is not set")
		}
		return
	}
	r.checkEndpoint(t)
}

// checkEndpoint allows http to this machine alone: spans name sites and jobs.
func (r *checker) checkEndpoint(t *Tracing) {
	address, err := url.Parse(t.Endpoint)
	switch {
	case err != nil || address.Host == "" || address.Scheme != "https" && address.Scheme != "http":
		r.Problem("tracing.endpoint", "is not a URL such as https://collector.example.org:4318")
	case address.User != nil:
		r.Problem("tracing.endpoint", "has a password in it; put a header into a file and name it as headers")
	case address.RawQuery != "" || address.Fragment != "":
		r.Problem("tracing.endpoint", "has a query or a fragment, which are not sent; remove them")
	case address.Scheme == "http" && !isLoopback(address.Hostname()):
		r.Problem("tracing.endpoint", "sends the names of sites and jobs unencrypted to %s; use https", address.Hostname())
	case address.Scheme == "http" && t.CA != "":
		r.Problem("tracing.ca", "is for https, and endpoint is http")
	}
}
