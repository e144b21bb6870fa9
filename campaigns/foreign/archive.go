package foreign

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// A file of a collection.
type file struct {
	name string // with slashes
	data []byte
}

// readArchive reads a zip: a card with its pictures (CHARX), or a collection of
// pages and exports.
func readArchive(name string, data []byte, o Options) (*Import, error) {
	files, err := unpack(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if i := slices.IndexFunc(files, func(f file) bool { return f.name == "card.json" }); i >= 0 {
		return readCharX(name, files[i].data, files, o)
	}
	return collection(title(name), files, o)
}

// embedded begins the address of a CHARX's own files. The specification has lost
// a d there, and so have the archives.
const embedded = "embed" + "ed://"

// readCharX reads a card whose pictures lie beside it in the archive.
func readCharX(name string, card []byte, files []file, o Options) (*Import, error) {
	in := begin(o)
	if err := in.json(title(name), card); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	in.Format += " in a CHARX"
	for _, ext := range []string{".png", ".jpg", ".jpeg", ".webp"} {
		i := slices.IndexFunc(files, func(f file) bool {
			return strings.HasPrefix(f.name, "assets/icon/") && strings.EqualFold(path.Ext(f.name), ext)
		})
		if i < 0 {
			continue
		}
		picture := files[i].data
		if ext == ".png" {
			var err error
			if _, picture, err = pictureOf(picture); err != nil {
				in.notice("the portrait is left out: %v", err)
				break
			}
		}
		in.portrait(picture, ext)
		break
	}
	return in.finish()
}

// pictureOf is chunks, for bytes that only claim to be a PNG.
func pictureOf(data []byte) (texts map[string]string, bare []byte, err error) {
	if !bytes.HasPrefix(data, pngSignature) {
		return nil, nil, errors.New("it is no PNG")
	}
	return chunks(data)
}

// unpack reads the files of an archive that may have been made to do harm.
func unpack(data []byte) ([]file, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("the archive is damaged: %w", err)
	}
	if len(z.File) > maxEntries {
		return nil, fmt.Errorf("the archive has %d files: at most %d", len(z.File), maxEntries)
	}
	var files []file
	total := 0
	for _, f := range z.File {
		if f.FileInfo().IsDir() {
			continue
		}
		if !fs.ValidPath(f.Name) || strings.ContainsAny(f.Name, "\\:") {
			return nil, fmt.Errorf("the archive holds %q, which would leave the folder: it is refused as a whole", f.Name)
		}
		if !f.Mode().IsRegular() {
			return nil, fmt.Errorf("the archive holds %q, which is no ordinary file: it is refused as a whole", f.Name)
		}
		content, err := unpackOne(f, maxUnpacked-total)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		total += len(content)
		files = append(files, file{f.Name, content})
	}
	return files, nil
}

// unpackOne reads one file of an archive. What the archive says of sizes is only
// believed when it says too much.
func unpackOne(f *zip.File, left int) ([]byte, error) {
	limit := min(uint64(left), f.CompressedSize64*maxRatio+4096)
	if f.UncompressedSize64 > limit {
		return nil, errBomb
	}
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("the archive is damaged: %w", err)
	}
	defer r.Close()
	content, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if err != nil {
		return nil, fmt.Errorf("the archive is damaged: %w", err)
	}
	if uint64(len(content)) > limit {
		return nil, errBomb
	}
	return content, nil
}

var errBomb = fmt.Errorf("it unpacks to far more than it should (more than %d times its size, or %d MiB in all): the archive is refused", maxRatio, maxUnpacked>>20)

// folder reads the files of a folder that an import can use, and none that begin
// with a dot, where programs keep their own.
func folder(fsys fs.FS) ([]file, error) {
	var files []file
	total := 0
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name != "." && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !d.Type().IsRegular() || !wanted(name):
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if total += int(min(info.Size(), maxUnpacked+1)); len(files) == maxEntries || total > maxUnpacked {
			return fmt.Errorf("more than %d files or %d MiB: import a part of it at a time", maxEntries, maxUnpacked>>20)
		}
		data, err := fs.ReadFile(fsys, name)
		files = append(files, file{name, data})
		return err
	})
	return files, err
}

// wanted reports whether a file of a collection may be of use.
func wanted(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".json", ".db", ".jsonl":
		return true
	}
	return false
}

// collection reads many files as one world: pages of Markdown and exported JSON.
func collection(name string, files []file, o Options) (*Import, error) {
	in := begin(o)
	in.Draft.Title = name
	var pages []file
	for _, f := range files {
		switch {
		case !wanted(f.name) || strings.HasPrefix(path.Base(f.name), ".") || strings.HasPrefix(f.name, "__MACOSX/"):
		case strings.EqualFold(path.Ext(f.name), ".md"):
			pages = append(pages, f)
		default:
			if err := in.json(title(f.name), bytes.TrimSpace(f.data)); err != nil {
				in.notice("%s is left out: %v", f.name, err)
			}
		}
	}
	if pages != nil {
		in.vault(pages)
	}
	result, err := in.finish()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), in.reasons())
	}
	return result, nil
}

// reasons are the notices of an import that came to nothing.
func (in *importing) reasons() error {
	var errs []error
	for _, n := range in.Notices[:min(len(in.Notices), 5)] {
		errs = append(errs, errors.New(n))
	}
	return errors.Join(errs...)
}
