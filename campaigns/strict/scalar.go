package strict

import (
	"encoding"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// text hands a scalar to its type's own method. The value is not quoted in
// problems: what the method says is all that is said.
func (d *decoder) text(at, n *yaml.Node, v reflect.Value, f field) {
	if err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(n.Value)); err != nil {
		d.problem(at, "%s%v", prefix(f), err)
	}
}

func (d *decoder) scalar(at, n *yaml.Node, v reflect.Value, f field) {
	if n.Kind != yaml.ScalarNode {
		d.problem(at, "%swant %s, found %s", prefix(f), wanted(v.Type()), kindOf(n))
		return
	}
	tag := n.ShortTag()
	if v.Type() == reflect.TypeFor[time.Duration]() {
		d.duration(at, n, v, f)
		return
	}
	switch v.Kind() {
	case reflect.String:
		// Numbers and such are taken as they are written: a title of "2014" or a
		// version 1.10 need no quotes.
		d.oneOf(at, n, f)
		d.bounds(at, length(n.Value), f, "characters")
		v.SetString(n.Value)
	case reflect.Bool:
		var b bool
		if tag != "!!bool" || n.Decode(&b) != nil {
			d.problem(at, "%swant true or false, found %s%s", prefix(f), kindOf(n), yesNo(n.Value))
			return
		}
		v.SetBool(b)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		var i int64
		if tag != "!!int" || n.Decode(&i) != nil {
			d.problem(at, "%swant a whole number, found %s", prefix(f), kindOf(n))
			return
		}
		if v.OverflowInt(i) {
			d.problem(at, "%s%s is too far from 0", prefix(f), n.Value)
			return
		}
		d.oneOf(at, n, f)
		d.bounds(at, float64(i), f, "")
		v.SetInt(i)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		var u uint64
		if tag != "!!int" || n.Decode(&u) != nil {
			d.problem(at, "%swant a whole number that is not negative, found %s", prefix(f), kindOf(n))
			return
		}
		if v.OverflowUint(u) {
			d.problem(at, "%s%s is too much", prefix(f), n.Value)
			return
		}
		d.oneOf(at, n, f)
		d.bounds(at, float64(u), f, "")
		v.SetUint(u)
	case reflect.Float32, reflect.Float64:
		var x float64
		if tag != "!!int" && tag != "!!float" || n.Decode(&x) != nil || math.IsNaN(x) || math.IsInf(x, 0) || v.OverflowFloat(x) {
			d.problem(at, "%swant a number, found %s", prefix(f), kindOf(n))
			return
		}
		d.bounds(at, x, f, "")
		v.SetFloat(x)
	default:
		panic("strict: no way to read a " + v.Type().String())
	}
}

func (d *decoder) duration(at, n *yaml.Node, v reflect.Value, f field) {
	t, err := time.ParseDuration(n.Value)
	switch {
	case err != nil:
		d.problem(at, "%swant a time with its unit such as 500ms, 90s or 2h, found %s", prefix(f), kindOf(n))
	case t < 0:
		d.problem(at, "%sa time cannot be negative, found %s", prefix(f), kindOf(n))
	default:
		v.SetInt(int64(t))
	}
}

func (d *decoder) oneOf(at, n *yaml.Node, f field) {
	if len(f.oneOf) == 0 || slices.Contains(f.oneOf, n.Value) {
		return
	}
	hint := ""
	if n.ShortTag() == "!!str" { // one number looks as much like another
		hint = DidYouMean(n.Value, f.oneOf)
	}
	d.problem(at, "%swant one of %s; found %s%s", prefix(f), strings.Join(f.oneOf, ", "), kindOf(n), hint)
}

func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number"
	default:
		if t == reflect.TypeFor[time.Duration]() {
			return "a time such as 90s"
		}
		return "a whole number"
	}
}

// yesNo helps those who know YAML's older words for true and false.
func yesNo(s string) string {
	switch strings.ToLower(s) {
	case "yes", "on", "y", "1":
		return "; did you mean true?"
	case "no", "off", "n", "0":
		return "; did you mean false?"
	}
	return ""
}
