package console

import "net/http"

// A gallery has the files of the pictures that were made for the table.
type gallery interface {
	// PictureFile is a picture's file and media type, or nil.
	PictureFile(id string) (file []byte, media string)
}

// pictureFile serves a picture to everybody at the table. A picture never changes
// under its id.
func (c *Console) pictureFile(w http.ResponseWriter, r *http.Request) {
	g, ok := c.table.(gallery)
	if !ok {
		http.NotFound(w, r)
		return
	}
	file, media := g.PictureFile(r.PathValue("id"))
	if file == nil {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", media)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "private, max-age=86400, immutable")
	_, _ = w.Write(file)
}
