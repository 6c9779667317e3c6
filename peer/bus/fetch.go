package bus

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/switchyard-hpc/switchyard/peer/transfer"
	"github.com/switchyard-hpc/switchyard/protocol"
	commonv1 "github.com/switchyard-hpc/switchyard/protocol/common/v1"
	peerv1 "github.com/switchyard-hpc/switchyard/protocol/peer/v1"
)

// MaxChunk is the most bytes that one [FetchRequest] may ask for.
const MaxChunk = peerv1.MaxChunk

const (
	fetchWindow = 2 // chunks of one partner under way
	fetchTries  = 3
	fetchQueue  = 8 // requests of one partner that wait to be served
)

// FetchRequest names a piece of a job's output file.
type FetchRequest struct {
	Tag    protocol.Tag
	Stream protocol.Stream
	Offset int64
	Size   int // bytes wanted, 1 to [MaxChunk]
}

// Fetch reads a piece of a job's output at a partner: up to req.Size bytes, fewer
// or none at the file's end. It goes over a direct connection, on which any number of
// pieces are under way, or else in a chunk over NATS: then at most two pieces of one
// partner are under way, further calls wait, and a lost request is repeated a few
// times. The error is
// [ErrNoLink] without a session, and says what the partner says if it refuses; it is a
// [protocol.ErrOutputGone] if the partner has the output no longer.
func (b *Bus) Fetch(ctx context.Context, from protocol.SiteName, req FetchRequest) ([]byte, error) {
	p, err := b.partner(from)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(p.links, (*link).up) {
		return nil, ErrNoLink
	}
	if req.Size <= MaxChunk { // a larger one is refused below
		if err = await(ctx, req.Size, b.pace.fetching, p.pace.fetching); err != nil {
			return nil, err
		}
	}
	data, err := p.fetchDirect(ctx, req)
	if !errors.Is(err, transfer.ErrNoPath) {
		return data, err
	}
	return p.fetchChunk(ctx, req)
}

// fetchChunk asks over NATS.
func (p *partner) fetchChunk(ctx context.Context, req FetchRequest) ([]byte, error) {
	select {
	case p.window <- struct{}{}:
		defer func() { <-p.window }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for range fetchTries {
		data, err := p.fetch(ctx, req)
		if !errors.Is(err, errNoAnswer) {
			p.traffic.fetchedOverNATS.Add(uint64(len(data)))
			return data, err
		}
	}
	return nil, fmt.Errorf("fetch from %s: %w", p.Site, errNoAnswer)
}

// FetchFile reads a whole output file at a partner into w, piece by piece, and
// checks its size and SHA-256. After an error w holds a part of it.
func (b *Bus) FetchFile(
	ctx context.Context, from protocol.SiteName, tag protocol.Tag, file protocol.File, w io.Writer,
) error {
	sum := sha256.New()
	for offset := int64(0); offset < file.Size; {
		size := int(min(MaxChunk, file.Size-offset))
		data, err := b.Fetch(ctx, from, FetchRequest{Tag: tag, Stream: file.Stream, Offset: offset, Size: size})
		if err != nil {
			return err
		}
		if len(data) == 0 {
			return fmt.Errorf("fetch %v of %v from %s: it ends at byte %d of %d", file.Stream, tag, from, offset, file.Size)
		}
		sum.Write(data)
		if _, err = w.Write(data); err != nil {
			return fmt.Errorf("fetch %v of %v from %s: %w", file.Stream, tag, from, err)
		}
		offset += int64(len(data))
	}
	if [sha256.Size]byte(sum.Sum(nil)) != file.SHA256 {
		return fmt.Errorf("fetch %v of %v from %s: the SHA-256 differs from the result's", file.Stream, tag, from)
	}
	return nil
}

var errNoAnswer = errors.New("the partner does not answer")

// fetch asks once.
func (p *partner) fetch(ctx context.Context, req FetchRequest) ([]byte, error) {
	id := p.fetchID.Add(1)
	body, err := encodeRequest(id, req)
	if err != nil {
		return nil, err
	}
	answer := make(chan *peerv1.FetchReply, 1)
	p.register(id, answer)
	defer p.register(id, nil)
	if err = p.send(opFetch, body); err != nil {
		return nil, err
	}
	timer := time.NewTimer(p.bus.cfg.Timing.Fetch)
	defer timer.Stop()
	select {
	case reply := <-answer:
		return p.chunk(req, reply)
	case <-timer.C:
		return nil, errNoAnswer
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func encodeRequest(id uint64, req FetchRequest) ([]byte, error) {
	return peerv1.EncodeFetchRequest(&peerv1.FetchRequest{
		Id: id, Tag: commonv1.EncodeTag(req.Tag), Stream: commonv1.EncodeStream(req.Stream),
		Offset: req.Offset, Size: int64(req.Size),
	})
}

// register notes the receiver of an answer; nil removes it.
func (p *partner) register(id uint64, answer chan *peerv1.FetchReply) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if answer == nil {
		delete(p.fetches, id)
		return
	}
	p.fetches[id] = answer
}

func (p *partner) chunk(req FetchRequest, reply *peerv1.FetchReply) ([]byte, error) {
	data := reply.GetData()
	if text := reply.GetError(); text != "" && reply.GetGone() && req.Stream == protocol.StageInArchive {
		return nil, &protocol.StageInError{Reason: strings.TrimPrefix(text, refusedText)}
	} else if text != "" && reply.GetGone() {
		return nil, fmt.Errorf("fetch from %s: %w: %q", p.Site, protocol.ErrOutputGone, text)
	} else if text != "" {
		return nil, fmt.Errorf("fetch from %s: %q", p.Site, text)
	}
	if len(data) > req.Size {
		return nil, fmt.Errorf("fetch from %s: %d bytes instead of %d", p.Site, len(data), req.Size)
	}
	return data, nil
}

// receiveChunk passes an answer to its receiver. A late or duplicate answer has none
// and is dropped.
func (p *partner) receiveChunk(body []byte) {
	reply, err := peerv1.DecodeFetchReply(body)
	if err != nil {
		p.reject(err)
		return
	}
	p.mu.Lock()
	answer := p.fetches[reply.GetId()]
	p.mu.Unlock()
	select {
	case answer <- reply:
	default:
	}
}

func (p *partner) receiveFetch(body []byte) {
	req, err := peerv1.DecodeFetchRequest(body)
	if err != nil {
		p.reject(err)
		return
	}
	select {
	case p.serves <- req:
	default:
		p.reject(reject(Overload, "too many fetches wait"))
	}
}

// serve answers fetches, one after the other, until the context ends.
func (p *partner) serve(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case req := <-p.serves:
			p.serveOne(ctx, req)
		}
	}
}

func (p *partner) serveOne(ctx context.Context, w *peerv1.FetchRequest) {
	reply := p.reply(ctx, w)
	body, err := peerv1.EncodeFetchReply(reply)
	if err == nil {
		err = p.send(opChunk, body)
	}
	if err != nil {
		p.bus.cfg.Log.Debug("chunk_send_failed", "site", string(p.Site), "error", err)
		return
	}
	p.traffic.sentOverNATS.Add(uint64(len(reply.GetData())))
}

// reply is the answer to a request: data, or why there are none.
func (p *partner) reply(ctx context.Context, w *peerv1.FetchRequest) *peerv1.FetchReply {
	reply := &peerv1.FetchReply{Id: w.GetId()}
	data, err := p.read(ctx, w)
	if err != nil {
		reply.Error, reply.Gone = errorText(err), errors.Is(err, protocol.ErrOutputGone)
		return reply
	}
	reply.Data = data
	return reply
}

func (p *partner) read(ctx context.Context, w *peerv1.FetchRequest) ([]byte, error) {
	req := FetchRequest{
		Tag: commonv1.DecodeTag(w.GetTag()), Stream: commonv1.DecodeStream(w.GetStream()),
		Offset: w.GetOffset(), Size: int(w.GetSize()),
	}
	limited, cancel := context.WithTimeout(ctx, p.bus.cfg.Timing.Fetch)
	defer cancel()
	data, err := p.bus.cfg.Handler.Fetch(limited, p.Site, req)
	if err != nil {
		return nil, err
	}
	if len(data) > req.Size {
		return nil, errors.New("the site's handler returned more than was asked for")
	}
	return data, await(ctx, len(data), p.bus.pace.sending, p.pace.sending)
}

// refusedText begins what a partner says that refuses a fetch.
const refusedText = "refused: "

// errorText makes an error fit for the wire; never empty.
func errorText(err error) string {
	const room = peerv1.MaxReason/utf8.UTFMax - 16
	text := []rune(err.Error()) // replaces what is not UTF-8
	return refusedText + string(text[:min(len(text), room)])
}
