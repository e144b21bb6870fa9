package bot

// Sound is a piece of what the room hears: one frame of 20 ms, 48 kHz, mono, or
// the mark that a voice was cut off.
type Sound struct {
	// NPC is who speaks, or [Background], Line the id of the transcript line it belongs to.
	NPC, Line string
	// Samples are 960 samples, shared by all listeners: read only. Nil with Flush.
	Samples []int16
	// Flush asks the listener to drop what it has not played yet.
	Flush bool
}
