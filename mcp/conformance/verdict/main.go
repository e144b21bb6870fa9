// Command verdict reads what the conformance suite found about a server, and says
// for each scenario whether it was passed, and if not, why it does not apply.
//
//	verdict RESULTS [EXCEPTIONS...]
//
// RESULTS is the folder that the suite wrote. EXCEPTIONS are files that list scenarios,
// and single checks as scenario/check, that do not apply, each with the reason after
// it. A failure or warning that is not listed fails the run, and so does an exception
// that is not needed.
package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: verdict RESULTS [EXCEPTIONS...]")
		os.Exit(2)
	}
	exceptions := map[string]string{}
	for _, name := range os.Args[2:] {
		if err := read(name, exceptions); err != nil {
			fmt.Fprintln(os.Stderr, "verdict:", err)
			os.Exit(1)
		}
	}
	ok, err := judge(os.Stdout, os.Args[1], exceptions)
	if err != nil {
		fmt.Fprintln(os.Stderr, "verdict:", err)
	}
	if !ok {
		os.Exit(1)
	}
}

// read adds the exceptions of a file: a name and its reason a line.
func read(file string, exceptions map[string]string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(b)) {
		name, why, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "" || name[0] == '#' {
			continue
		}
		if why = strings.TrimSpace(why); why == "" {
			return fmt.Errorf("%s: %s: no reason", file, name)
		}
		exceptions[name] = why
	}
	return nil
}

// A check is one finding of the suite.
type check struct {
	ID, Description, Status, ErrorMessage string
}

// good says whether nothing is to be said against a finding. What a scenario skips
// it skips for the reason that it gives.
func (c check) good() bool { return c.Status != "FAILURE" && c.Status != "WARNING" }

// folder is how the suite names a folder of results.
var folder = regexp.MustCompile(`^server-(.+?)-\d{4}-\d\d-\d\dT.*$`)

// judge writes a line for each scenario, and says whether all is as it should be.
func judge(w io.Writer, results string, exceptions map[string]string) (ok bool, err error) {
	dirs, err := os.ReadDir(results)
	if err != nil {
		return false, err
	}
	if len(dirs) == 0 {
		return false, fmt.Errorf("%s: no results", results)
	}
	ok = true
	for _, d := range dirs {
		m := folder.FindStringSubmatch(d.Name())
		if m == nil {
			return false, fmt.Errorf("%s: not a result", d.Name())
		}
		b, err := os.ReadFile(filepath.Join(results, d.Name(), "checks.json"))
		if err != nil {
			return false, err
		}
		var checks []check
		if err := json.Unmarshal(b, &checks); err != nil {
			return false, fmt.Errorf("%s: %w", d.Name(), err)
		}
		ok = scenario(w, m[1], checks, exceptions) && ok
	}
	return ok, nil
}

// scenario writes the line of one, and says whether it is as it should be.
func scenario(w io.Writer, name string, checks []check, exceptions map[string]string) bool {
	var failed, excused []check
	for _, c := range checks {
		_, listed := exceptions[name+"/"+c.ID]
		switch {
		case c.good() && listed:
			c.ErrorMessage = "passes: strike it from the exceptions"
			failed = append(failed, c)
		case listed:
			excused = append(excused, c)
		case !c.good():
			failed = append(failed, c)
		}
	}
	why, whole := exceptions[name]
	// Whatever a server does not have, it has to say so in valid messages.
	valid := !slices.ContainsFunc(failed, func(c check) bool { return c.ID == "wire-schema-valid" })
	switch {
	case whole && len(failed) == 0:
		fmt.Fprintf(w, "FAIL  %s: passes: strike it from the exceptions\n", name)
		return false
	case whole && valid:
		fmt.Fprintf(w, "n/a   %s: %s\n", name, why)
		return true
	case len(failed) > 0:
		fmt.Fprintf(w, "FAIL  %s\n", name)
		for _, c := range failed {
			fmt.Fprintf(w, "      %s: %s\n", c.ID, cmp.Or(c.ErrorMessage, c.Description))
		}
		return false
	}
	passed := 0
	for _, c := range checks {
		if c.Status == "SUCCESS" {
			passed++
		}
	}
	if passed == 0 {
		fmt.Fprintf(w, "n/a   %s: the suite found nothing to check\n", name)
		return true
	}
	fmt.Fprintf(w, "ok    %s, %d checks\n", name, passed)
	for _, c := range excused {
		fmt.Fprintf(w, "n/a   %s/%s: %s\n", name, c.ID, exceptions[name+"/"+c.ID])
	}
	return true
}
