package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"

	"go.etcd.io/bbolt"
)

// A stored value begins with the CRC-32C of its row: of table, key and value, so
// that a row is also known to be wrong under another key or in another table.
const sumSize = 4 // bytes

// rowSum is the CRC-32C of a row. The lengths of the names are part of it: bytes
// that move from the key to the value change it.
func rowSum[K string | []byte](table string, key K, value []byte) uint32 {
	polynomial := crc32.MakeTable(crc32.Castagnoli)
	sum := ^uint32(0)
	sum = sumLength(polynomial, sum, len(table))
	sum = sumName(polynomial, sum, table)
	sum = sumLength(polynomial, sum, len(key))
	sum = sumName(polynomial, sum, key)
	return crc32.Update(^sum, polynomial, value)
}

// sumName goes on with the bytes of a name. crc32.Update would move them to the heap.
func sumName[K string | []byte](polynomial *crc32.Table, sum uint32, name K) uint32 {
	for i := range len(name) {
		sum = polynomial[(sum^uint32(name[i]))&0xff] ^ sum>>8
	}
	return sum
}

// sumLength goes on with the length of a name, which has two bytes.
func sumLength(polynomial *crc32.Table, sum uint32, n int) uint32 {
	length := uint32(n) //nolint:gosec // MaxKey is less
	sum = polynomial[(sum^length)&0xff] ^ sum>>8
	return polynomial[(sum^length>>8)&0xff] ^ sum>>8
}

// seal gives a value its stored form.
func seal(table, key string, value []byte) []byte {
	sealed := make([]byte, sumSize, sumSize+len(value))
	binary.BigEndian.PutUint32(sealed, rowSum(table, key, value))
	return append(sealed, value...)
}

// errRowSum says that a row is not what was written.
var errRowSum = errors.New("the row fails its checksum")

// unseal gives the value of a stored one, which it does not copy.
func unseal(table string, key, stored []byte) ([]byte, error) {
	if len(stored) < sumSize || len(table) > MaxTable || len(key) > MaxKey {
		return nil, errRowSum
	}
	value := stored[sumSize:]
	if storedSum(stored) != rowSum(table, key, value) {
		return nil, errRowSum
	}
	return value, nil
}

// storedSum is the checksum that a stored value begins with.
func storedSum(stored []byte) uint32 { return binary.BigEndian.Uint32(stored) }

// tally is what a table must hold: a row that is lost with its page changes it, and
// so does an older state of a row.
type tally struct { //nolint:recvcheck // it counts, and is given out by value
	rows uint64
	sum  uint64 // of the rows' checksums
}

func (t *tally) add(stored []byte) {
	t.rows++
	t.sum += uint64(storedSum(stored))
}

func (t *tally) remove(stored []byte) {
	t.rows--
	t.sum -= uint64(storedSum(stored))
}

// encode appends the tally to data.
func (t tally) encode(data []byte) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(data, t.rows), t.sum)
}

// tallies are those of all tables, by name.
type tallies map[string]tally

// encode gives the content of the row that keeps the tallies.
func (t tallies) encode() []byte {
	var out []byte
	for _, name := range slices.Sorted(maps.Keys(t)) {
		out = append(out, byte(len(name))) //nolint:gosec // MaxTable is less
		out = append(out, name...)
		out = t[name].encode(out)
	}
	return out
}

// decodeTallies reads what encode wrote.
func decodeTallies(data []byte) (tallies, error) {
	const numbers = 2 * 8
	t := tallies{}
	for len(data) > 0 {
		n := 1 + int(data[0])
		if len(data) < n+numbers {
			return nil, fmt.Errorf("the list of tables is cut off: %d bytes are left", len(data))
		}
		t[string(data[1:n])] = tally{rows: binary.BigEndian.Uint64(data[n:]), sum: binary.BigEndian.Uint64(data[n+8:])}
		data = data[n+numbers:]
	}
	return t, nil
}

// talliesOf reads the tallies of a file as a transaction sees it.
func talliesOf(tx *bbolt.Tx) (tallies, error) {
	own := tx.Bucket([]byte(metaTable))
	if own == nil {
		return nil, &DamageError{Table: metaTable, What: "it is missing"}
	}
	value, err := unseal(metaTable, []byte(talliesKey), own.Get([]byte(talliesKey)))
	if err != nil {
		return nil, &DamageError{Table: metaTable, Key: talliesKey, What: err.Error()}
	}
	return decodeTallies(value)
}
