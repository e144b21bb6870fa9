package embedding

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheServersVectorsComeInTheOrderOfTheTexts(t *testing.T) {
	var asked, auth string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		asked, auth = r.URL.Path+string(b), r.Header.Get("Authorization")
		fmt.Fprint(w, `{"data":[{"index":1,"embedding":[3,4]},{"index":0,"embedding":[1,2]}]}`)
	}))
	defer srv.Close()
	got, err := Client{Base: srv.URL + "/v1/", Key: "k", Name: "m"}.Embed(t.Context(), []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]float32{{1, 2}, {3, 4}}, got); diff != "" {
		t.Error(diff)
	}
	if want := `/v1/embeddings{"encoding_format":"float","input":["a","b"],"model":"m"}`; asked != want || auth != "Bearer k" {
		t.Errorf("asked %s with %q, want %s", asked, auth, want)
	}
}

func TestAnswersThatCannotBeAreRefused(t *testing.T) {
	for _, answer := range []string{
		``, `no`, `{}`, `{"data":[{"index":0,"embedding":[1]}]}`, `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`,
		`{"data":[{"index":9,"embedding":[1]}]}`, `{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1]}]}`,
		`{"data":[{"index":0,"embedding":[]},{"index":1,"embedding":[]}]}`, strings.Repeat(" ", maxAnswer+2),
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, answer) }))
		if _, err := (Client{Base: srv.URL}).Embed(t.Context(), []string{"a", "b"}); err == nil {
			t.Errorf("%.60q was taken", answer)
		}
		srv.Close()
	}
}
