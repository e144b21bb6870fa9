package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"

	"github.com/glyphoxa/glyphoxa/bot"
)

// campaignPage shows the files of the campaign, and one of them to change.
func (c *Console) campaignPage(_ context.Context, r *http.Request, v viewer) (pageBody, error) {
	files, err := c.manuscript.Files()
	if err != nil {
		return pageBody{}, err
	}
	if len(files) == 0 {
		return pageBody{}, errors.New("the campaign's folder is empty")
	}
	name := cmp.Or(r.URL.Query().Get("file"), files[0])
	text, err := c.manuscript.Read(name)
	if err != nil {
		return pageBody{}, err
	}
	return pageBody{"Campaign", campaignView(v, files, name, text, c.manuscript.Writable())}, nil
}

// draft checks a changed file, and writes it if that was asked for and nothing is
// wrong with it. It answers with what is wrong and what has changed.
func (c *Console) draft(w http.ResponseWriter, r *http.Request, write bool) {
	get := r.PostForm.Get
	// Browsers send line ends as CR LF, HTML standard, section 4.10.21.4.
	name, text := get("file"), strings.ReplaceAll(get("text"), "\r\n", "\n")
	before, err := c.manuscript.Read(name)
	if err != nil {
		c.refuse(w, r, http.StatusUnprocessableEntity, err)
		return
	}
	faults, err := c.manuscript.Check(name, text)
	if err != nil {
		c.refuse(w, r, http.StatusUnprocessableEntity, err)
		return
	}
	written := false
	if write && len(faults) == 0 {
		begun := strings.ReplaceAll(get("before"), "\r\n", "\n")
		if err := c.manuscript.Write(name, begun, text); err != nil {
			c.refuse(w, r, http.StatusUnprocessableEntity, err)
			return
		}
		written = true
		c.log.Info("campaign changed", "file", name, "by", who(r).person.Name)
	}
	c.render(w, r, http.StatusOK, proofView(faults, differences(before, text), text, written))
}

// portrait serves a picture of the campaign's folder.
func (c *Console) portrait(w http.ResponseWriter, r *http.Request) {
	data, kind, err := c.manuscript.Picture(r.PathValue("name"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		http.NotFound(w, r)
	case err != nil:
		c.refuse(w, r, http.StatusInternalServerError, err)
	default:
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(data)
	}
}

// placeOf is where a fault is, as editors write it.
func placeOf(f bot.Fault) string {
	if f.Line == 0 {
		return f.File
	}
	return fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)
}
