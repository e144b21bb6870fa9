package markup

import (
	"strings"
	"testing"
)

func TestAPageBecomesTextAndItsSecretsStayApart(t *testing.T) {
	open, secret := HTML(`<h2>The mill</h2><p>It stands   <b>empty</b>.</p><script>alert(1)</script>
		<section class="secret" id="x"><p>It does <section>not</section> stand empty.</p></section><ul><li>one<li>two</ul>`)
	for _, want := range []string{"## The mill", "It stands empty .", "- one", "- two"} {
		if !strings.Contains(open, want) {
			t.Errorf("%q is missing in %q", want, open)
		}
	}
	if strings.Contains(open, "not") || strings.Contains(open, "alert") {
		t.Errorf("the open text is %q", open)
	}
	if got := strings.Join(strings.Fields(secret), " "); got != "It does not stand empty." {
		t.Errorf("the secret is %q", got)
	}
}

func FuzzHTML(f *testing.F) {
	f.Add("<p>a<section class=secret>b</section>")
	f.Fuzz(func(t *testing.T, source string) {
		open, secret := HTML(source)
		if len(open)+len(secret) > 8*len(source)+8 {
			t.Errorf("%d bytes became %d", len(source), len(open)+len(secret))
		}
	})
}
