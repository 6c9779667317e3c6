package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
)

// The layout of a bbolt file, which is that of its memory: numbers have the byte
// order of the machine. It is read here without bbolt, which believes what pages
// say, panics where they contradict each other, and loses rows where they do not.
const (
	metaMagic   = 0xED0CDAED
	metaVersion = 2
	metaLength  = 64 // bytes, the checksum at the end included
	firstPage   = 2  // after the two meta pages
	noFreelist  = 1<<64 - 1

	pageHeader    = 16 // bytes
	elementHeader = 16 // bytes
	bucketHeader  = 16 // bytes: page of the root, 0 for one that follows, and a counter

	branchFlag   = 0x01
	leafFlag     = 0x02
	freelistFlag = 0x10

	bucketFlag = 0x01 // of a leaf's element
)

// errNotBolt says that a file was never one of bbolt.
var errNotBolt = errors.New("it is not a bbolt file")

// meta is the content of a meta page, of which a file has two: each transaction
// writes the one that the last did not.
type meta struct {
	pageSize uint32
	root     uint64 // page of the list of tables
	freelist uint64 // page of the list of free pages, in a file of an earlier format; or noFreelist
	high     uint64 // all pages are below this
	tx       uint64
}

// image is a file in memory.
type image struct {
	meta

	data []byte
}

// newImage reads the meta pages. bbolt contents itself with one that is right, which
// may be that of the last transaction but one; here both must be.
func newImage(data []byte) (image, error) {
	first, err := readMeta(data, 0)
	if err != nil {
		return image{}, err
	}
	second, err := readMeta(data, int(first.pageSize))
	if err != nil {
		return image{}, err
	}
	m, other := first, second
	if other.tx > m.tx {
		m, other = other, m
	}
	switch {
	case first.pageSize != second.pageSize, m.tx != other.tx+1, first.tx%2 != 0:
		return image{}, damagef(0, "the two meta pages are not of successive transactions (%d and %d)", first.tx, second.tx)
	case m.high < firstPage || m.high > uint64(len(data))/uint64(m.pageSize):
		return image{}, damagef(0, "the file is cut off: it has %d bytes of %d", len(data), m.high*uint64(m.pageSize))
	}
	return image{meta: m, data: data}, nil
}

// readMeta reads the meta page at an offset.
func readMeta(data []byte, at int) (meta, error) {
	if len(data) < at+pageHeader+metaLength {
		return meta{}, fmt.Errorf("%w, or the file is cut off: it has %d bytes", errNotBolt, len(data))
	}
	raw := data[at+pageHeader:]
	number := binary.NativeEndian
	m := meta{
		pageSize: number.Uint32(raw[8:]), root: number.Uint64(raw[16:]), freelist: number.Uint64(raw[32:]),
		high: number.Uint64(raw[40:]), tx: number.Uint64(raw[48:]),
	}
	sum := fnv.New64a()
	sum.Write(raw[:metaLength-8])
	switch {
	case sum.Sum64() == number.Uint64(raw[metaLength-8:]) && number.Uint32(raw) == metaMagic &&
		number.Uint32(raw[4:]) == metaVersion && m.pageSize >= 1<<9 && m.pageSize <= 1<<20:
		return m, nil
	case at == 0 && !marked(data, 0) && !marked(data, os.Getpagesize()):
		return meta{}, errNotBolt
	case at == 0:
		return meta{}, damagef(0, "the first meta page fails its checksum; the last transaction may be lost")
	}
	return meta{}, damagef(1, "the second meta page fails its checksum; the last transaction may be lost")
}

// marked says whether a page has a mark of bbolt's meta pages.
func marked(data []byte, at int) bool {
	if len(data) < at+pageHeader+metaLength {
		return false
	}
	raw := data[at+pageHeader:]
	return binary.NativeEndian.Uint32(raw) == metaMagic || binary.NativeEndian.Uint32(raw[4:]) == metaVersion
}

// page is a page with those that continue it.
type page struct {
	id    uint64
	flags uint16
	count int // of elements
	span  uint64
	data  []byte
}

// page reads the header of a page that is not one of the meta pages.
func (m *image) page(id uint64) (page, error) {
	if id < firstPage || id >= m.high {
		return page{}, damagef(id, "the page is outside of the file")
	}
	size := uint64(m.pageSize)
	p, named := readPage(m.data[id*size : (id+1)*size])
	p.id = id
	switch {
	case named != id:
		return page{}, damagef(id, "the page says that it is page %d", named)
	case p.span > m.high-id:
		return page{}, damagef(id, "the page says that it has %d pages, and the file has %d more", p.span, m.high-id)
	}
	p.data = m.data[id*size : (id+p.span)*size]
	return p, nil
}

// readPage reads a page's header, and by which number the page calls itself.
func readPage(data []byte) (p page, named uint64) {
	number := binary.NativeEndian
	return page{
		flags: number.Uint16(data[8:]), count: int(number.Uint16(data[10:])),
		span: 1 + uint64(number.Uint32(data[12:])), data: data,
	}, number.Uint64(data)
}

// element gives the header of an element, and its offset in the page.
func (p *page) element(i int) (head []byte, at uint64, err error) {
	begin := pageHeader + i*elementHeader
	if begin+elementHeader > len(p.data) {
		return nil, 0, damagef(p.id, "the page has no room for the %d elements that it counts", p.count)
	}
	return p.data[begin : begin+elementHeader], uint64(begin), nil //nolint:gosec // an index is not negative
}

// bytes gives a part of the page.
func (p *page) bytes(at, size uint64) ([]byte, error) {
	if at > uint64(len(p.data)) || size > uint64(len(p.data))-at {
		return nil, damagef(p.id, "an element is outside of the page")
	}
	return p.data[at : at+size], nil
}

// branch gives an element of a branch page: the child with the keys from key on.
func (p *page) branch(i int) (key []byte, child uint64, err error) {
	head, at, err := p.element(i)
	if err != nil {
		return nil, 0, err
	}
	number := binary.NativeEndian
	key, err = p.bytes(at+uint64(number.Uint32(head)), uint64(number.Uint32(head[4:])))
	return key, number.Uint64(head[8:]), err
}

// leaf gives an element of a leaf page.
func (p *page) leaf(i int) (flags uint32, key, value []byte, err error) {
	head, at, err := p.element(i)
	if err != nil {
		return 0, nil, nil, err
	}
	number := binary.NativeEndian
	at += uint64(number.Uint32(head[4:]))
	keySize, valueSize := uint64(number.Uint32(head[8:])), uint64(number.Uint32(head[12:]))
	if key, err = p.bytes(at, keySize); err == nil {
		value, err = p.bytes(at+keySize, valueSize)
	}
	return number.Uint32(head), key, value, err
}

// freeIDs lists the free pages that a page of the list of free pages names. Of a
// long list the first entry is the count.
func (p *page) freeIDs() ([]byte, error) {
	const idSize, long = 8, 0xFFFF
	count, at := uint64(p.count), uint64(pageHeader) //nolint:gosec // 16 bits
	if p.count == long {
		head, err := p.bytes(at, idSize)
		if err != nil {
			return nil, err
		}
		count, at = binary.NativeEndian.Uint64(head), at+idSize
	}
	if count > uint64(len(p.data))/idSize {
		return nil, damagef(p.id, "the list of free pages has no room for the %d that it counts", count)
	}
	return p.bytes(at, count*idSize)
}
