package filefeed

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/plugins/price/priceformat"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// content is what a file says, and whether its last line ends.
type content struct {
	set   *priceformat.Set
	ended bool
}

// contentOf reads the text of a source.
func contentOf(source Source, text []byte) (content, error) {
	set, err := priceformat.Read(source.Format, source.Path, text, source.Options)
	return content{set, source.Format == priceformat.ENTSOE || bytes.HasSuffix(text, []byte("\n"))}, err
}

// doubt is why a file that is right by itself is not believed after what it said before: it
// looks as if it were still being written, or as if a part of it were lost. A price that is
// cut in the middle is a price too.
func (c content) doubt(before content) error {
	if before.set == nil {
		return nil
	}
	if before.ended && !c.ended {
		return errors.New("its last line has no end, as it had before, so that it may be cut off; write it again")
	}
	for _, was := range before.set.Curves {
		is := c.set.Find(was.Area)
		if is == nil {
			return fmt.Errorf("it has no prices of %s any more, which it had before; write it again, or start the peer again if that is meant", was.Area)
		}
		if now, then := end(is.Series), end(was.Series); now < then {
			return fmt.Errorf("it has prices of %s until %s, and before until %s, so that it may be cut off; write it again, "+
				"or start the peer again if that is meant", was.Area, stamp(now), stamp(then))
		}
	}
	return nil
}

// end is when the last slot ends; 0: there is none.
func end(s price.Series) protocol.Instant {
	if len(s.Slots) == 0 {
		return 0
	}
	return s.Slots[len(s.Slots)-1].End()
}

func stamp(at protocol.Instant) string { return at.Time().UTC().Format(time.RFC3339) }
