package recording

import (
	"cmp"
	"fmt"
	"time"
)

// run writes steps until the recording ends, and closes the file. It is the only
// goroutine that uses the file after Begin.
func (w *Writer) run() {
	defer close(w.done)
	written, err := w.pump()
	if err == nil {
		err = w.finish(written)
	}
	if failed := w.file.Close(); err == nil {
		err = failed
	}
	if err != nil {
		w.end(err)
	}
	if problem := w.problem(); problem != nil {
		w.o.Log.Error("recording_ended", "path", w.name, "steps", written, "error", problem,
			"note", "the peer goes on without; what is recorded can be used")
	}
}

// pump writes steps until no more are taken. It returns how many there are.
func (w *Writer) pump() (written uint64, err error) {
	var due <-chan time.Time // the next flush, if one is owed
	for {
		select {
		case it := <-w.queue:
			if err = w.write(it); err != nil {
				return written, err
			}
			written = it.n
			if due == nil && w.o.Flush > 0 {
				due = time.After(w.o.Flush)
			}
			if len(w.queue) == 0 && w.o.Flush <= 0 {
				err = w.flush()
			}
		case <-due:
			due, err = nil, w.flush()
		case <-w.stop:
			return w.drain(written)
		}
		if err != nil {
			return written, err
		}
	}
}

// drain writes the steps that still wait.
func (w *Writer) drain(written uint64) (uint64, error) {
	for {
		select {
		case it := <-w.queue:
			if err := w.write(it); err != nil {
				return written, err
			}
			written = it.n
		default:
			return written, nil
		}
	}
}

func (w *Writer) finish(steps uint64) error {
	reason := "the peer stopped"
	if problem := w.problem(); problem != nil {
		reason = problem.Error()
	}
	if err := w.line(entry{End: &End{Steps: steps, Reason: reason}}); err != nil {
		return err
	}
	return w.flush()
}

func (w *Writer) write(it item) error {
	step := Step{N: it.n, Now: it.now, Event: it.event, Answers: it.heard.answers, Charges: it.heard.charges, Rates: it.heard.rates}
	var err error
	if step.Print, err = printOf(it.ready, w.o.Clear); err == nil {
		err = w.line(entry{Step: &step})
	}
	if err != nil {
		return fmt.Errorf("step %d (%T): %w", it.n, it.event, err)
	}
	return nil
}

func (w *Writer) line(e entry) error {
	line, err := lineOf(e, w.o.Bodies)
	if err != nil {
		return err
	}
	_, err = w.out.Write(line)
	return err
}

func (w *Writer) flush() error {
	err := w.out.Flush()
	if w.o.Sync {
		err = cmp.Or(err, w.file.Sync())
	}
	return err
}
