package metrics

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Health says whether the peer is well; nil functions mean that it is.
type Health struct {
	Live  func() error // is the process worth keeping?
	Ready func() error // does it take jobs?
}

// Handler serves /metrics, /healthz and /readyz.
func (m *Metrics) Handler(health Health) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", probe(health.Live))
	mux.HandleFunc("GET /readyz", probe(health.Ready))
	return mux
}

// probe answers 200, or 503 and the reason.
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
		_, _ = w.Write([]byte(text)) // nobody is left to tell
	}
}
