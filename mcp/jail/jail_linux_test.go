package jail

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// behaviour names what the test binary does when it is started as a server.
const behaviour = "JAIL_TEST_BEHAVIOUR"

func TestMain(m *testing.M) {
	Main()
	if b := os.Getenv(behaviour); b != "" {
		os.Exit(behave(b))
	}
	os.Exit(m.Run())
}

// behave is the server's side of the tests.
func behave(b string) int {
	out := json.NewEncoder(os.Stdout)
	switch b {
	case "echo":
		_, _ = io.Copy(os.Stdout, os.Stdin)
		_ = os.WriteFile("goodbye", nil, 0o600)
	case "env":
		_ = out.Encode(os.Environ())
	case "intrude":
		_ = out.Encode(intrude(os.Getenv("SECRET"), os.Getenv("ADDR")))
	case "peek":
		b, err := os.ReadFile(os.Getenv("SECRET"))
		_ = out.Encode(map[string]any{"text": string(b), "failed": err != nil})
	case "limits":
		var l [2]syscall.Rlimit
		_ = syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l[0])
		_ = syscall.Getrlimit(syscall.RLIMIT_CORE, &l[1])
		_ = out.Encode(l)
	case "stubborn":
		// A server that ignores everything, and left a grandchild behind that
		// does so in a session of its own.
		for range 3 {
			c := exec.Command("/bin/sh", "-c", "trap '' TERM HUP INT; while :; do sleep 1; done")
			c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			_ = c.Start()
		}
		c := exec.Command("/bin/sh", "-c", "setsid sh -c 'sleep 1000' & exit 0")
		_ = c.Run()
		sh, err := exec.LookPath("sh")
		if err != nil {
			return 1
		}
		fmt.Println("ready")
		_ = syscall.Exec(sh, []string{"sh", "-c", "trap '' TERM HUP INT; while :; do sleep 1; done"}, os.Environ())
	case "host":
		// A program that has started a server and then dies without a word.
		c, err := Start(Spec{Argv: []string{os.Args[0]}, Env: []string{behaviour + "=stubborn"}, Dir: os.Getenv("DIR")})
		if err != nil {
			fmt.Println(err)
			return 1
		}
		_, _ = bufio.NewReader(c.Out).ReadString('\n')
		fmt.Println(c.PID)
		time.Sleep(time.Hour)
	}
	return 0
}

// intrude tries what a server must not be able to do, and returns what worked.
func intrude(secret, addr string) map[string]string {
	worked := map[string]string{}
	try := func(what string, err error) {
		if err == nil {
			worked[what] = "worked"
		}
	}
	read := func(p string) error { _, err := os.ReadFile(p); return err }
	write := func(p string) error { return os.WriteFile(p, []byte("x"), 0o600) }
	parent := strconv.Itoa(os.Getppid())
	try("read a neighbour's file", read(secret))
	try("read it through a link", func() error { return errors.Join(os.Symlink(secret, "link"), read("link")) }())
	try("link it", os.Link(secret, "hard"))
	try("list its directory", func() error { _, err := os.ReadDir(filepath.Dir(secret)); return err }())
	try("overwrite it", write(secret))
	try("remove it", os.Remove(secret))
	try("rename it", os.Rename(secret, "mine"))
	try("truncate it", os.Truncate(secret, 0))
	try("write beside it", write(secret+".new"))
	try("make a directory beside it", os.Mkdir(secret+".dir", 0o700))
	try("read /etc/passwd", read("/etc/passwd"))
	try("read /etc/shadow", read("/etc/shadow"))
	try("list /root", func() error { _, err := os.ReadDir("/root"); return err }())
	try("list /home", func() error { _, err := os.ReadDir("/home"); return err }())
	try("read the parent's environment", read("/proc/"+parent+"/environ"))
	try("read the parent's memory map", read("/proc/"+parent+"/maps"))
	try("read its own command line", read("/proc/self/cmdline"))
	try("write to /tmp", write("/tmp/jail-intruder"))
	try("write to /usr", write("/usr/jail-intruder"))
	try("write to /dev/shm", write("/dev/shm/jail-intruder"))
	try("connect over TCP", func() error {
		c, err := net.DialTimeout("tcp4", addr, time.Second)
		if err == nil {
			c.Close()
		}
		return err
	}())
	try("listen on TCP", func() error {
		var lc net.ListenConfig
		lc.SetMultipathTCP(false) // Landlock does not see those; our servers do not either
		l, err := lc.Listen(context.Background(), "tcp4", "127.0.0.1:0")
		if err == nil {
			_ = l.Close()
		}
		return err
	}())
	try("send over UDP", func() error {
		c, err := net.DialTimeout("udp4", addr, time.Second)
		if err == nil {
			_, err = c.Write([]byte("x"))
			c.Close()
		}
		return err
	}())
	try("signal the parent", syscall.Kill(os.Getppid(), 0))
	try("trace the parent", func() error {
		runtime.LockOSThread()
		return syscall.PtraceAttach(os.Getppid())
	}())
	try("mount", syscall.Mount("none", ".", "tmpfs", 0, ""))
	if os.WriteFile("own", []byte("x"), 0o600) != nil || read("own") != nil {
		worked["no use of its own directory"] = "worked"
	}
	return worked
}

func start(t *testing.T, behave string, change func(*Spec)) *Child {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := Spec{Argv: []string{exe}, Env: []string{behaviour + "=" + behave}, Dir: t.TempDir(), Stderr: t.Output()}
	if change != nil {
		change(&s)
	}
	c, err := Start(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func decode[T any](t *testing.T, c *Child) T {
	t.Helper()
	var v T
	if err := json.NewDecoder(c.Out).Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestServerTalksOverItsPipesAndEndsWithThem(t *testing.T) {
	dir := t.TempDir()
	c := start(t, "echo", func(s *Spec) { s.Dir = dir })
	fmt.Fprintln(c.In, "hello")
	line, err := bufio.NewReader(c.Out).ReadString('\n')
	if err != nil || line != "hello\n" {
		t.Fatalf("got %q, %v", line, err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if !holds(dir, "goodbye") {
		t.Error("it was not given the time to end by itself")
	}
	if alive(c.PID) {
		t.Error("it still runs")
	}
}

func TestEnvironmentHoldsOnlyWhatIsListed(t *testing.T) {
	t.Setenv("DISCORD_TOKEN", "canary")
	c := start(t, "env", func(s *Spec) { s.Env = append(s.Env, "DICE_MAX=100") })
	env := decode[[]string](t, c)
	var names []string
	for _, e := range env {
		n, _, _ := strings.Cut(e, "=")
		names = append(names, n)
		if strings.Contains(e, "canary") {
			t.Errorf("a secret of ours is in its environment: %s", n)
		}
	}
	slices.Sort(names)
	want := []string{"DICE_MAX", "HOME", behaviour, "LANG", "PATH", "TMPDIR"}
	if !slices.Equal(names, want) {
		t.Errorf("variables %v, want %v", names, want)
	}
}

func TestHostileServerGetsNowhere(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("s"), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	c := start(t, "intrude", func(s *Spec) {
		s.Env = append(s.Env, "SECRET="+secret, "ADDR="+l.Addr().String())
	})
	worked := decode[map[string]string](t, c)
	if !strings.Contains(c.Confinement, "network") && !strings.Contains(c.Confinement, "UDP") {
		delete(worked, "send over UDP") // what this system cannot hold, it does not say it holds
	}
	if len(worked) > 0 {
		t.Errorf("(%s) it could: %v", c.Confinement, slices.Sorted(maps.Keys(worked)))
	}
}

func TestServerIsNeverLeftTheNetworkInSilence(t *testing.T) {
	for abi := range 12 {
		for _, o := range []orders{{}, {Alone: true}, {Network: true}} {
			held, err := holding(abi, o)
			says := strings.Join(held, " ")
			kept := strings.Contains(says, "TCP") || strings.Contains(says, "network")
			if !o.Network && !kept && err == nil {
				t.Errorf("ABI %d, %+v: it starts, held by %q", abi, o, says)
			}
			if o.Network && (kept || err != nil) {
				t.Errorf("ABI %d: it may use the network, and is held by %q, %v", abi, says, err)
			}
		}
	}
}

func TestOpenServerIsNotConfinedAndSaysSo(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("s"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, open := range []bool{true, false} {
		c := start(t, "peek", func(s *Spec) { s.Open, s.Env = open, append(s.Env, "SECRET="+secret) })
		got := decode[struct{ Failed bool }](t, c)
		if got.Failed == open {
			t.Errorf("open %v: reading failed %v", open, got.Failed)
		}
		if strings.Contains(c.Confinement, "only") != open {
			t.Errorf("open %v: confinement %q", open, c.Confinement)
		}
	}
}

func TestLimitsReachTheServer(t *testing.T) {
	c := start(t, "limits", func(s *Spec) { s.Limits.Files = 300 })
	l := decode[[2]syscall.Rlimit](t, c)
	if l[0].Cur != 300 || l[0].Max != 300 || l[1].Max != 0 {
		t.Errorf("limits %+v, want 300 files and no core", l)
	}
}

func TestWholeTreeIsGoneWithinSixSeconds(t *testing.T) {
	t.Parallel()
	c := start(t, "stubborn", func(s *Spec) { s.Open = true })
	_, _ = bufio.NewReader(c.Out).ReadString('\n')
	tree := below(parentOf(t, c.PID))
	if len(tree) < 6 {
		t.Fatalf("%d processes below the keeper, want the server and its grandchildren", len(tree))
	}
	if lastWord > 6*time.Second {
		t.Errorf("it may take %v", lastWord)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	for _, pid := range tree {
		if alive(pid) {
			t.Errorf("process %d of the tree still runs", pid)
		}
	}
}

func TestTreeGoesWhenThisProgramIsKilled(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	host := exec.Command(exe)
	host.Env = append(os.Environ(), behaviour+"=host", "DIR="+t.TempDir())
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(line, err)
	}
	tree := below(host.Process.Pid)
	_ = host.Process.Kill()
	_ = host.Wait()
	deadline := time.Now().Add(time.Minute)
	for slices.ContainsFunc(tree, alive) {
		if time.Now().After(deadline) {
			t.Fatalf("of %v, %d still runs", tree, tree[slices.IndexFunc(tree, alive)])
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func TestServerThatCannotBeConfinedDoesNotStart(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	_, err = Start(Spec{Argv: []string{exe}, Env: []string{behaviour + "=echo"}, Dir: t.TempDir(), Read: []string{"/nowhere/at/all"}})
	if err == nil || !strings.Contains(err.Error(), ErrUnconfined.Error()) {
		t.Errorf("err %v, want %v", err, ErrUnconfined)
	}
}

func TestBadCommandsSayWhatToDo(t *testing.T) {
	for _, c := range []struct {
		argv []string
		want string
	}{
		{nil, "no command"},
		{[]string{"no-such-command-here"}, "is it installed"},
		{[]string{"/etc"}, "permission"},
		{[]string{"sh", "a\x00b"}, "NUL"},
	} {
		_, err := Start(Spec{Argv: c.argv, Dir: t.TempDir()})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q in it", c.argv, err, c.want)
		}
	}
	script := filepath.Join(t.TempDir(), "x.sh")
	if err := os.WriteFile(script, []byte("#!/no/such/interpreter\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Start(Spec{Argv: []string{script}, Dir: t.TempDir()}); err == nil {
		t.Error("a script without an interpreter has started")
	}
	if _, err := Start(Spec{Argv: []string{"sh"}, Dir: "/nowhere"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
}

func TestScriptMayReadItsPackageAndNotTheConfiguration(t *testing.T) {
	root := t.TempDir()
	mk := func(p string) string {
		p = filepath.Join(root, p)
		if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
		return p
	}
	mk("pkg/package.json")
	mk("game/glyphoxa.yaml")
	for file, want := range map[string]string{
		mk("pkg/dist/index.js"):                       filepath.Join(root, "pkg"),
		mk("app/node_modules/@x/server/dist/main.js"): filepath.Join(root, "app/node_modules"),
		mk("plain/tool.py"):                           filepath.Join(root, "plain"),
		mk("game/tool.py"):                            filepath.Join(root, "game/tool.py"),
	} {
		if got := packageOf(file); got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
	}
}

func parentOf(t *testing.T, pid int) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	ppid, err := strconv.Atoi(strings.Fields(rest)[1])
	if err != nil {
		t.Fatal(err)
	}
	return ppid
}

func alive(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return !strings.HasPrefix(rest, "Z")
}

func BenchmarkStart(b *testing.B) {
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		c, err := Start(Spec{Argv: []string{exe}, Env: []string{behaviour + "=echo"}, Dir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		_ = c.Close()
	}
}
