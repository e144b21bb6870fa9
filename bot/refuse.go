package bot

import "fmt"

// A Refusal says why an action is not taken and what to do instead. Its words are
// apart from what they are about, so that they can be told in another language.
type Refusal struct {
	// Format is as fmt's, in English.
	Format string
	Args   []any
}

// Refuse makes a Refusal.
func Refuse(format string, args ...any) error { return &Refusal{format, args} }

// Error is the refusal in English.
func (r *Refusal) Error() string { return fmt.Sprintf(r.Format, r.Args...) }
