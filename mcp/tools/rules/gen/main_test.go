package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFactsAreExtractedWithoutProse(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"5e-bits/2014/5e-SRD-Spells.json": `[{"name":"Cold Snap","dc":{"dc_type":{"index":"con"},"dc_success":"half"},"damage":{"damage_type":{"index":"cold"},"damage_at_slot_level":{"10":"9d6","2":"2d6"}},"classes":[{"index":"wizard"}]}]`,
		"open5e/srd-2014/Spell.json":      `[{"fields":{"name":"Cold Snap","level":2,"school":"evocation","casting_time":"bonus-action","range_text":"Touch","verbal":true,"material":true,"material_specified":"a pearl worth 1,000 gp","duration":"1 minute","desc":"Secret prose here.","higher_level":"The damage increases by 1d6 for each slot level above 2nd."}}]`,
		"open5e/srd-2024/Spell.json":      `[{"fields":{"name":"Cold Snap","level":3,"school":"evocation","casting_time":"bonus-action","range_text":"Touch","verbal":true,"material":true,"duration":"1 minute","attack_roll":true,"damage_roll":"99d99"}},{"fields":{"name":"New Thing","level":1,"school":"illusion","range_text":"Self"}}]`,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := run(dir, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"name: Cold Snap", "level: 2", "time: bonus action", "range: touch", "material_gp: 1000", "save: constitution", "on_save: half",
		"damage: 2d6", "per_slot: 1d6", "v2024: {level: 3}", "name: New Thing, only: \"2024\"",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	for _, leak := range []string{"prose", "99d99"} {
		if strings.Contains(out.String(), leak) {
			t.Errorf("%q got through:\n%s", leak, out.String())
		}
	}
	if err := run(filepath.Join(dir, "missing"), &out); err == nil {
		t.Error("a missing folder was accepted")
	}
}
