package slurm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/switchyard-hpc/switchyard/localsched/usage"
)

// fetchNode reads a node's exporter: a URL that begins with http, or a file, as
// node_exporter's textfile collectors and cron jobs write them.
func fetchNode(ctx context.Context, source string) (node usage.Node, err error) {
	from, err := openSource(ctx, source)
	if err != nil {
		return usage.Node{}, err
	}
	node, err = usage.ReadNode(from)
	if err = errors.Join(err, from.Close()); err != nil {
		return usage.Node{}, fmt.Errorf("node exporter %s: %w", source, err)
	}
	return node, nil
}

func openSource(ctx context.Context, source string) (io.ReadCloser, error) {
	if !strings.HasPrefix(source, "http") {
		return os.Open(source)
	}
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, source, http.NoBody)
	if err != nil {
		return nil, err
	}
	// Without leave to follow: who answers in an exporter's place may be a job.
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(ask)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, errors.Join(fmt.Errorf("node exporter %s: it answers %s", source, answer.Status), answer.Body.Close())
	}
	return answer.Body, nil
}
