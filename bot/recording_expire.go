package bot

import (
	"errors"
	"time"
)

// Expire deletes the recordings that are older than they may get.
func (r *Recordings) Expire(before time.Time) error {
	names, err := r.of("")
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for _, name := range names {
		info, err := r.root.Stat(name)
		if err == nil && info.ModTime().Before(before) {
			if err = r.root.Remove(name); err == nil {
				r.size -= info.Size()
			}
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
