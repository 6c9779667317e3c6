package bus

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"testing"
	"time"
)

// BenchmarkSealOpen seals and opens frames, beside what authenticating them with
// HMAC-SHA256 and a copy of the body costs, and reports the ratio.
func BenchmarkSealOpen(b *testing.B) {
	for name, size := range map[string]int{"1kB": 1000, "1MB": 1 << 20} {
		b.Run(name, func(b *testing.B) {
			first, second := ends(b)
			opener, answerer := shake(b, first, second)
			body := bytes.Repeat([]byte{1}, size)
			mac := hmac.New(sha256.New, make([]byte, keySize))
			var sealed, authenticated time.Duration
			for b.Loop() {
				sealed += elapsed(func() {
					data := mustSeal(b, opener, "subject", "msg.offer", body, false)
					f, err := readFrame(data)
					if err == nil {
						_, _, err = answerer.open("subject", f)
					}
					if err != nil {
						b.Fatal(err)
					}
				})
				authenticated += elapsed(func() {
					data := append(make([]byte, 0, size+sha256.Size), body...)
					for range 2 {
						mac.Reset()
						mac.Write(data[:size])
						data = mac.Sum(data[:size])
					}
				})
			}
			b.ReportMetric(float64(sealed.Nanoseconds())/float64(b.N)/1000, "aead-µs")
			b.ReportMetric(float64(authenticated.Nanoseconds())/float64(b.N)/1000, "hmac-µs")
			b.ReportMetric(float64(sealed)/float64(authenticated), "x-hmac")
		})
	}
}

func elapsed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}
