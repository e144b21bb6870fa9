package jail

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"unsafe"

	"github.com/landlock-lsm/go-landlock/landlock"
	landsys "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// Numbers of prctl(2) and setrlimit(2) that package syscall does not name.
const (
	prSetNoNewPrivs     = 38
	prSetChildSubreaper = 36
	rlimitMemory        = 2 // RLIMIT_DATA
)

func prctl(option, arg uintptr) error {
	if _, _, e := syscall.RawSyscall6(syscall.SYS_PRCTL, option, arg, 0, 0, 0, 0); e != 0 {
		return e
	}
	return nil
}

// become confines this process and turns it into the server. It returns only
// if that fails.
func become() error {
	runtime.LockOSThread()
	line, err := bufio.NewReader(os.NewFile(ordersFD, "orders")).ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("read orders: %w", err)
	}
	var o orders
	if err := json.Unmarshal(line, &o); err != nil {
		return fmt.Errorf("read orders: %w", err)
	}
	if err := os.Chdir(o.Dir); err != nil {
		return err
	}
	if err := prctl(prSetNoNewPrivs, 1); err != nil {
		return fmt.Errorf("%w: no new privileges: %w", ErrUnconfined, err)
	}
	how, err := confine(o)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnconfined, err)
	}
	if err := limit(o.Limits); err != nil {
		return fmt.Errorf("%w: %w", ErrUnconfined, err)
	}
	// Both pipes must close by themselves when the server starts, and the report
	// must be on its way before.
	syscall.CloseOnExec(ordersFD)
	syscall.CloseOnExec(reportFD)
	fmt.Fprintln(os.NewFile(reportFD, "report"), string(mustJSON(report{Confinement: how, PID: os.Getpid()})))
	return fmt.Errorf("%s: %w", o.Exe, syscall.Exec(o.Exe, o.Argv, o.Env))
}

// limit sets the resource limits, hard and soft alike.
func limit(l Limits) error {
	for _, x := range []struct {
		what  int
		value uint64
	}{
		{syscall.RLIMIT_CORE, 0},
		{syscall.RLIMIT_CPU, uint64(l.CPU.Seconds())},
		{syscall.RLIMIT_NOFILE, l.Files},
		{syscall.RLIMIT_FSIZE, l.FileSize},
		{rlimitMemory, l.Memory},
	} {
		var now syscall.Rlimit
		if err := syscall.Getrlimit(x.what, &now); err != nil {
			return err
		}
		v := min(x.value, now.Max)
		if err := setrlimit(x.what, v); err != nil {
			return fmt.Errorf("resource limit %d: %w", x.what, err)
		}
	}
	return nil
}

// setrlimit goes to the kernel directly: package syscall would put the limit of
// open files back when the server starts.
func setrlimit(what int, v uint64) error {
	r := syscall.Rlimit{Cur: v, Max: v}
	if what == syscall.RLIMIT_NOFILE {
		return syscall.Setrlimit(what, &r) // tells package syscall not to
	}
	if _, _, e := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, 0, uintptr(what), uintptr(unsafe.Pointer(&r)), 0, 0, 0); e != 0 {
		return e
	}
	return nil
}

// Where programs, libraries and the facts about the machine that every program
// needs are found. None of it is anybody's secret.
var (
	systemDirs = []string{
		"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store",
		"/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/etc/alternatives", "/etc/fonts", "/etc/ld.so.conf.d",
		"/sys/devices/system/cpu", "/sys/fs/cgroup",
	}
	systemFiles = []string{
		"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.preload", "/etc/resolv.conf", "/etc/hosts", "/etc/host.conf",
		"/etc/nsswitch.conf", "/etc/services", "/etc/protocols", "/etc/gai.conf", "/etc/localtime", "/etc/timezone",
		"/etc/os-release", "/etc/mime.types", "/proc/meminfo", "/proc/cpuinfo", "/proc/stat", "/proc/version",
		"/proc/sys/kernel/osrelease", "/proc/sys/vm/overcommit_memory", "/proc/filesystems", "/proc/loadavg", "/proc/uptime",
	}
	devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}
)

// confine applies Landlock and says what it covers.
func confine(o orders) (string, error) {
	abi, err := landsys.LandlockGetABIVersion()
	switch {
	case o.Open:
		return "process group and resource limits only, as configured", nil
	case err != nil || abi < 1:
		return "", errors.New("this kernel has no Landlock; set open: true for this server to run it with your rights")
	}
	rules := []landlock.Rule{
		landlock.RODirs(systemDirs...).IgnoreIfMissing(),
		landlock.ROFiles(resolved(systemFiles)...).IgnoreIfMissing(),
		landlock.RWFiles(devices...).IgnoreIfMissing(),
		landlock.RWDirs(o.Dir),
	}
	for _, p := range append(programDirs(o), o.Read...) {
		r, err := rule(p, landlock.RODirs, landlock.ROFiles)
		if err != nil {
			return "", fmt.Errorf("read: %w", err)
		}
		rules = append(rules, r)
	}
	for _, p := range o.Write {
		r, err := rule(p, landlock.RWDirs, landlock.RWFiles)
		if err != nil {
			return "", fmt.Errorf("write: %w", err)
		}
		rules = append(rules, r)
	}
	cfg := landlock.V11
	if o.Network {
		cfg.HandledAccessNet = 0
	}
	held, err := holding(abi, o)
	if err != nil {
		return "", err
	}
	if err := cfg.BestEffort().Restrict(rules...); err != nil {
		return "", err
	}
	return fmt.Sprintf("Landlock ABI %d: %s", abi, strings.Join(held, ", ")), nil
}

// holding says what a server is kept from by a kernel with the given Landlock. It is
// an error if that leaves it the network although it may not use it.
func holding(abi int, o orders) (held []string, err error) {
	held = []string{"files"}
	switch {
	case o.Network:
	case o.Alone:
		held = append(held, "network")
	case abi >= 10:
		held = append(held, "TCP", "UDP")
	case abi >= 4:
		held = append(held, "TCP")
	default:
		return nil, errors.New("this system can neither make a network for it that leads nowhere nor forbid TCP; set network: true for this server to let it connect")
	}
	if abi >= 6 {
		held = append(held, "signals")
	}
	return held, nil
}

// rule permits a path, which may be a directory or a file.
func rule(p string, dirs, files func(...string) landlock.FSRule) (landlock.Rule, error) {
	fi, err := os.Stat(p)
	switch {
	case err != nil:
		return nil, err
	case fi.IsDir():
		return dirs(p), nil
	default:
		return files(p), nil
	}
}

// resolved follows links, since rules are about what a name leads to, and drops
// what is not there.
func resolved(paths []string) []string {
	var out []string
	for _, p := range paths {
		if q, err := filepath.EvalSymlinks(p); err == nil {
			out = append(out, q)
		}
	}
	return out
}

// programDirs finds where the program itself lives: its binary's installation, and
// the package that each script among its arguments belongs to.
func programDirs(o orders) []string {
	var dirs []string
	for i, a := range append([]string{o.Exe}, o.Argv[1:]...) {
		if !filepath.IsAbs(a) {
			continue
		}
		p, err := filepath.EvalSymlinks(a)
		if err != nil {
			continue
		}
		if fi, err := os.Stat(p); err != nil || !fi.Mode().IsRegular() {
			continue // directories are granted by name, in the configuration
		}
		if root := versions(a); root != "" {
			dirs = append(dirs, root)
		}
		if i == 0 && filepath.Base(filepath.Dir(a)) == "bin" {
			// What lies beside a command, such as the interpreter it names, and
			// the libraries of its installation.
			dirs = append(dirs, installation(filepath.Dir(a)))
		}
		dirs = append(dirs, packageOf(p))
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// versionManagers keep interpreters below a person's home, and start them through
// scripts of their own. They hold programs and nobody's secrets.
var versionManagers = []string{"/.pyenv/", "/.nvm/", "/.asdf/", "/.volta/", "/.rbenv/", "/.bun/", "/.deno/", "/.local/share/mise/", "/.local/share/uv/"}

// versions is the version manager's folder that a program lies in, or "".
func versions(program string) string {
	for _, m := range versionManagers {
		if i := strings.Index(program, m); i >= 0 {
			return program[:i+len(m)-1]
		}
	}
	return ""
}

// installation is what a bin directory is part of. A person's ~/.local holds
// keyrings as well as programs, so there it is the bin directory alone.
func installation(bin string) string {
	root := filepath.Dir(bin)
	if broad(root) || filepath.Base(root) == ".local" {
		return bin
	}
	return root
}

// packageOf is what a script needs to run: the outermost node_modules it lies in,
// else the nearest directory above it with a package file, else its own directory.
// Where that would open somebody's home or this program's configuration, it is the
// file alone.
func packageOf(file string) string {
	const modules = "/node_modules/"
	if i := strings.Index(file, modules); i >= 0 {
		return file[:i+len(modules)-1]
	}
	dir := filepath.Dir(file)
	for d := dir; !broad(d); d = filepath.Dir(d) {
		if holds(d, "package.json") || holds(d, "pyproject.toml") || holds(d, "pyvenv.cfg") {
			dir = d
			break
		}
	}
	if broad(dir) || holds(dir, "glyphoxa.yaml") || holds(dir, ".env") && !holds(dir, "package.json") {
		return file
	}
	return dir
}

func holds(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}

// broad reports whether a directory is no program's own.
func broad(dir string) bool {
	switch filepath.Dir(dir) {
	case "/", "/home", "/Users", "/var", "/mnt", "/media":
		return dir != "/app" && dir != "/usr"
	}
	return false
}
