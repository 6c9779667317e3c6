package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/view"
)

// Database is the peer's own, for those who look after it. Its methods read or write all of it, and one after the other.
type Database interface {
	// Snapshot is a copy of it as it is durable now, in a file that has no name. The caller closes it.
	Snapshot() (*os.File, error)
	// Inspect reads a snapshot; with verify it also looks for rows that contradict each other.
	Inspect(verify bool) (StoreReport, error)
	// Compact makes the file as small as its rows.
	Compact() (Compacted, error)
}

// StoreReport is what a database holds, and what is wrong with it.
type StoreReport struct {
	Path      string         `json:"path"`
	Running   bool           `json:"running"` // whether the peer that has it open was asked
	Format    uint64         `json:"format"`
	Bytes     int64          `json:"bytes"`
	Pages     uint64         `json:"pages"`
	FreePages uint64         `json:"free_pages"`
	Tables    []StoreTable   `json:"tables"`
	Problems  []StoreProblem `json:"problems"`
}

// StoreTable is a table of the database.
type StoreTable struct {
	Table string `json:"table"`
	Rows  uint64 `json:"rows"`
	Bytes int64  `json:"bytes"` // of keys and values
}

// StoreProblem is an error of the database, with what is known of its place.
type StoreProblem struct {
	Table string `json:"table,omitempty"`
	Key   string `json:"key,omitempty"`
	Page  uint64 `json:"page,omitempty"`
	What  string `json:"what"`
}

// Compacted is the size of the database's file before and after it was compacted.
type Compacted struct {
	Path    string `json:"path"`
	Running bool   `json:"running"` // whether the peer that has it open was asked
	Before  int64  `json:"bytes_before"`
	After   int64  `json:"bytes_after"`
}

const backupPiece = 1 << 20 // bytes that have writeTime to be taken

// database is the peer's, for who may read all that is in it: scripts and environments of all users.
func (s *server) database(who caller) (Database, error) {
	switch {
	case !who.admin:
		return nil, refuse(view.Denied, "only root and the peer's account may do this; you are %s", who.user)
	case s.Database == nil:
		return nil, refuse(view.Unavailable, "this peer has no database")
	}
	return s.Database, nil
}

func (s *server) store(w http.ResponseWriter, r *http.Request, who caller) error {
	verify := false
	if err := parse(r.URL.Query(), map[string]func([]string) error{"verify": once(&verify, parseBool)}); err != nil {
		return err
	}
	database, err := s.database(who)
	if err != nil {
		return err
	}
	report, err := database.Inspect(verify)
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, report)
}

func (s *server) compactStore(w http.ResponseWriter, _ *http.Request, who caller) error {
	database, err := s.database(who)
	if err != nil {
		return err
	}
	done, err := database.Compact()
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, done)
}

// backupStore sends a snapshot. It is made before the first byte is sent: a caller that reads slowly holds up no other.
func (s *server) backupStore(w http.ResponseWriter, _ *http.Request, who caller) error {
	database, err := s.database(who)
	if err != nil {
		return err
	}
	file, err := database.Snapshot()
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.FormatInt(info.Size(), 10))
	if noted, ok := w.(*noted); ok {
		noted.answered(view.Done{})
	}
	w.WriteHeader(http.StatusOK)
	for deadline := http.NewResponseController(w); err == nil; {
		_ = deadline.SetWriteDeadline(time.Now().Add(writeTime))
		_, err = io.CopyN(w, file, backupPiece)
	}
	if !errors.Is(err, io.EOF) {
		s.Log.Debug("backup_cut", "user", who.user, "error", err)
		panic(http.ErrAbortHandler) // the only way to tell the client that this is not the end
	}
	return nil
}

// Store asks the peer what its database holds; with verify also for rows that contradict each other.
func (c *Client) Store(ctx context.Context, verify bool) (StoreReport, error) {
	return call[StoreReport](ctx, c, http.MethodGet, "/v1/store?verify="+strconv.FormatBool(verify), nil)
}

// CompactStore has the peer make the file of its database as small as its rows.
func (c *Client) CompactStore(ctx context.Context) (Compacted, error) {
	return call[Compacted](ctx, c, http.MethodPost, "/v1/store/compact", nil)
}

// BackupStore writes a snapshot of the peer's database to w. After an error w holds a part of it.
func (c *Client) BackupStore(ctx context.Context, w io.Writer) error {
	response, err := c.send(ctx, http.MethodPost, "/v1/store/backup", nil)
	if err != nil {
		return err
	}
	defer drain(response)
	if _, err = io.Copy(w, response.Body); err != nil {
		return fmt.Errorf("read the snapshot that the peer sends: %w", err)
	}
	return nil
}
