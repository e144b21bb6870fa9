package mcp

import (
	"encoding/json"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

var flatSchema = json.RawMessage(`{"type":"object","properties":{
	"expression":{"type":"string","minLength":1,"maxLength":5},"mode":{"type":"string","enum":["a","b"]},
	"n":{"type":"integer","minimum":-2,"maximum":20},"any":{"type":"integer"},"on":{"type":"boolean"}},
	"required":["expression"],"additionalProperties":false}`)

// Whatever the quick way says yes to, the general way says yes to.
func TestQuickCheckNeverAdmitsMore(t *testing.T) {
	c, err := compileArgs(flatSchema)
	if err != nil || c.flat == nil {
		t.Fatal(err, "no quick way for a flat schema")
	}
	slow := &argCheck{resolved: c.resolved}
	sure := 0
	rapid.Check(t, func(rt *rapid.T) {
		value := rapid.OneOf(
			rapid.SampledFrom([]string{`"x"`, `""`, `"abcdef"`, `"ä\u00e4"`, `"äöüßx"`, `"a"`, `1`, `-2`, `-3`, `21`, `007`, `1.0`, `1e3`, `true`, `false`, `tru`, `null`, `[]`, `{}`, "\"\xff\"", "\"\n\"", `99999999999999999999`}),
			rapid.StringMatching(`"[a-z]{0,7}"|-?[0-9]{1,4}`),
		)
		key := rapid.SampledFrom([]string{"expression", "mode", "n", "any", "on", "other", "Expression"})
		args := rapid.SampledFrom([]string{"{", `{"expression":"2d6"`, `{ "expression" : "x" `, `{"mode":"a"`}).Draw(rt, "start")
		for i := range rapid.IntRange(0, 4).Draw(rt, "fields") {
			if i > 0 || len(args) > 1 {
				args += rapid.SampledFrom([]string{",", ",", ",", " , ", ",\n", ";", ""}).Draw(rt, "comma")
			}
			args += fmt.Sprintf("%q%s%s", key.Draw(rt, "key"), rapid.SampledFrom([]string{":", ":", ":", " : ", "="}).Draw(rt, "colon"), value.Draw(rt, "value"))
		}
		args += rapid.SampledFrom([]string{"}", "}", "}", " }", "} ", "", "}}", "} x"}).Draw(rt, "end")
		if !c.flat.sure([]byte(args)) {
			return
		}
		sure++
		if _, err := slow.check(json.RawMessage(args)); err != nil {
			rt.Fatalf("%s passed, and is wrong: %v", args, err)
		}
	})
	if sure == 0 {
		t.Error("the quick way never said yes: the test proves nothing")
	}
}

func TestQuickCheckKnowsItsLimits(t *testing.T) {
	for _, s := range []string{
		`{"type":"object","properties":{"a":{"type":"string","pattern":"x"}}}`,
		`{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}}}`,
		`{"type":"object","properties":{"a":{"type":"string"}},"anyOf":[{"required":["a"]}]}`,
		`{"type":"object","properties":{"a":{"type":"string"}},"minProperties":1}`,
		`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":{"type":"string"}}`,
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"string"}}}`,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["b"]}`,
		`{"type":"object","properties":{"a":{"type":"integer","minimum":0.5}}}`,
	} {
		if c, err := compileArgs(json.RawMessage(s)); err != nil || c.flat != nil {
			t.Errorf("%s: %v, taken for flat", s, err)
		}
	}
}

func FuzzArgs(f *testing.F) {
	c, err := compileArgs(flatSchema)
	if err != nil {
		f.Fatal(err)
	}
	slow := &argCheck{resolved: c.resolved}
	f.Add([]byte(`{"expression":"2d6","n":3,"on":true}`))
	f.Fuzz(func(t *testing.T, args []byte) {
		_, quick := c.check(args)
		_, general := slow.check(args)
		if (quick == nil) != (general == nil) {
			t.Errorf("%q: quick %v, general %v", args, quick, general)
		}
	})
}
