package main

import (
	"strings"
	"testing"
)

func TestEveryFailureIsExcusedByALineThatIsStillTrue(t *testing.T) {
	good := check{ID: "a", Status: "SUCCESS"}
	bad := check{ID: "b", Status: "FAILURE", ErrorMessage: "broken"}
	warned := check{ID: "b", Status: "WARNING", Description: "should"}
	garbled := check{ID: "wire-schema-valid", Status: "FAILURE"}
	for name, c := range map[string]struct {
		checks     []check
		exceptions map[string]string
		ok         bool
		line       string
	}{
		"passed":                         {[]check{good}, nil, true, "ok    s, 1 checks"},
		"failed":                         {[]check{good, bad}, nil, false, "FAIL  s\n      b: broken"},
		"warned":                         {[]check{good, warned}, nil, false, "FAIL  s\n      b: should"},
		"scenario excused":               {[]check{good, bad}, map[string]string{"s": "none"}, true, "n/a   s: none"},
		"check excused":                  {[]check{good, bad}, map[string]string{"s/b": "none"}, true, "ok    s, 1 checks\nn/a   s/b: none"},
		"another's check is excused":     {[]check{good, bad}, map[string]string{"t/b": "none"}, false, "FAIL  s"},
		"scenario needlessly excused":    {[]check{good}, map[string]string{"s": "none"}, false, "FAIL  s: passes"},
		"check needlessly excused":       {[]check{good}, map[string]string{"s/a": "none"}, false, "a: passes"},
		"excused, but says it wrongly":   {[]check{bad, garbled}, map[string]string{"s": "none"}, false, "wire-schema-valid"},
		"nothing was there to be judged": {[]check{{ID: "a", Status: "INFO"}}, nil, true, "n/a   s: the suite found nothing"},
	} {
		var b strings.Builder
		if ok := scenario(&b, "s", c.checks, c.exceptions); ok != c.ok || !strings.Contains(b.String(), c.line) {
			t.Errorf("%s: %v %q, want %v %q", name, ok, b.String(), c.ok, c.line)
		}
	}
}

func TestAFolderWithoutResultsIsNoPass(t *testing.T) {
	if ok, err := judge(&strings.Builder{}, t.TempDir(), nil); ok || err == nil {
		t.Errorf("%v, %v, want an error", ok, err)
	}
}
