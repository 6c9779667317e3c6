package metrics

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Health are the health checks of the peer. A nil function always succeeds.
type Health struct {
	Live  func() error // an error means: restart the process
	Ready func() error // an error means: submissions are refused
}

// Handler serves /metrics, /healthz and /readyz.
func (m *Metrics) Handler(health Health) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", probe(health.Live))
	mux.HandleFunc("GET /readyz", probe(health.Ready))
	return mux
}

// probe answers 200, or 503 with the error of the check.
func probe(check func() error) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		text := "ok\n"
		if check != nil {
			if err := check(); err != nil {
				w.WriteHeader(http.StatusServiceUnavailable)
				text = err.Error() + "\n"
			}
		}
		_, _ = w.Write([]byte(text)) // the client has gone
	}
}
