package view

// MaxReason bounds what people may read in a reason, in bytes.
const MaxReason = 2048

// Clip keeps foreign text within [MaxReason].
func Clip(text string) string { return ClipTo(MaxReason, text) }

// ClipTo cuts a text after limit bytes, never inside a character, and marks the cut.
func ClipTo(limit int, text string) string {
	if len(text) <= limit {
		return text
	}
	cut := limit
	for cut > 0 && text[cut]&0xC0 == 0x80 { // not inside a rune
		cut--
	}
	return text[:cut] + "…"
}

// Detailed is a reason with what there is more to say of it.
func Detailed(reason, detail string) string {
	if detail == "" {
		return reason
	}
	return reason + " (" + detail + ")"
}
