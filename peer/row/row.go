package row

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Record puts or deletes one row, whole.
type Record struct {
	Table Table
	Key   string
	Row   Row // nil: delete
}

// JobKey is a job id as a row's key: keys sort as the ids do.
func JobKey(id protocol.JobID) string { return fmt.Sprintf("%016d", uint64(id)) }

// RunKey is the tag of a run as a row's key.
func RunKey(tag protocol.Tag) string { return fmt.Sprintf("%s.%d", JobKey(tag.Job), tag.Epoch) }

// ParseJobKey is the job ID that a row has as its key.
func ParseJobKey(key string) (protocol.JobID, error) { return protocol.ParseJobID(key) }

// Table names a kind of row.
type Table string

// The tables. [New] wants the rows of all of them but Archive and Earlier.
const (
	JobTable         Table = "job"         // jobs of this origin, by id
	ArrayTable       Table = "array"       // job arrays of this origin whose elements have not all ended, by id
	PayloadTable     Table = "payload"     // what jobs, arrays and guests run, by id
	GuestTable       Table = "guest"       // jobs of other origins, and their tombstones, by id
	RunTable         Table = "run"         // placements in the local queue, by tag
	DedupTable       Table = "dedup"       // submissions with a key, by user and key
	SiteTable        Table = "site"        // one row: this site's counters
	GenerationTable  Table = "generation"  // one row: how often the rows have changed
	PartnerTable     Table = "partner"     // what is durably known of each partner, by name
	ApplicationTable Table = "application" // applications whose components have not all ended, by the id of the first one
	ExecutionTable   Table = "execution"   // the DataWarehouse [IS 4.1]: executions, by user, component and site
	RequeueableTable Table = "requeueable" // jobs and arrays of this origin that have ended and can be requeued, by id
	UseTable         Table = "use"         // what users and accounts have used, by site, origin, account and user
	ArchiveTable     Table = "archive"     // finished jobs, by id; never read back by the core
	EarlierTable     Table = "earlier"     // runs after which their jobs were requeued, by tag; never read back by the core
)

// Tables lists what a restored peer needs, in the order in which [New] expects
// it.
func Tables() []Table {
	return []Table{SiteTable, GenerationTable, PartnerTable, PayloadTable, ApplicationTable, ArrayTable, JobTable, RequeueableTable, GuestTable, RunTable, DedupTable, ExecutionTable, UseTable}
}

// Row is one row's content. The set is closed. Rows are values: a row given out
// in a [Record] never changes.
//
//sumtype:decl
type Row interface{ table() Table }

// Encode gives a row's durable form.
func Encode(row Row) ([]byte, error) {
	data, err := json.Marshal(row)
	if err != nil {
		return nil, fmt.Errorf("row of table %s: %w", row.table(), err)
	}
	return data, nil
}

// Decode reads what [Encode] wrote.
func Decode(table Table, data []byte) (Row, error) { //nolint:cyclop // one case for each table
	switch table {
	case JobTable:
		return decodeAs[Job](data)
	case ArrayTable:
		return decodeAs[Array](data)
	case RequeueableTable:
		return decodeAs[Requeueable](data)
	case PayloadTable:
		return decodeAs[Payload](data)
	case GuestTable:
		return decodeAs[Guest](data)
	case RunTable:
		return decodeAs[Run](data)
	case DedupTable:
		return decodeAs[Dedup](data)
	case SiteTable:
		return decodeAs[Site](data)
	case GenerationTable:
		return decodeAs[Generation](data)
	case PartnerTable:
		return decodeAs[Partner](data)
	case ApplicationTable:
		return decodeAs[Application](data)
	case ExecutionTable:
		return decodeAs[Executions](data)
	case UseTable:
		return decodeAs[Use](data)
	case ArchiveTable:
		return archivedAs[Archived](data)
	case EarlierTable:
		return archivedAs[EarlierRun](data)
	}
	return nil, fmt.Errorf("table %q is unknown; it may come from a newer version", table)
}

// decodeAs reads a row of which each field must be known: another version's row is refused,
// since a part of it that is left out could be an objective of a user, or the owner of a job.
func decodeAs[R Row](data []byte) (Row, error) {
	var row R
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&row); err != nil {
		return nil, fmt.Errorf("row of table %s: %w; it may come from another version", row.table(), err)
	}
	if decoder.More() {
		return nil, fmt.Errorf("row of table %s: it goes on after its end", row.table())
	}
	return row, nil
}

// archivedAs reads a finished job or run, of any version: what is not known of it any more is left out.
func archivedAs[R Row](data []byte) (Row, error) {
	var row R
	if err := json.Unmarshal(data, &row); err != nil {
		return nil, fmt.Errorf("row of table %s: %w", row.table(), err)
	}
	return row, nil
}
