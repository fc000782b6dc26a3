// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// ErrUnavailable: no PostgreSQL can be had here.
var ErrUnavailable = errors.New("no postgres: set HARNESS_POSTGRES to the DSN of a database, install the server's package, or Maven to fetch one")

// Guard sees to it that nothing of a server outlives this process, however it ends.
type Guard interface {
	// Guard ends a process with its group; release is called when it has ended by itself.
	Guard(pid int) (release func(), err error)
	// Folder removes a folder after that; done is called when it is gone.
	Folder(dir string) (done func(), err error)
}

// Server is a PostgreSQL that lives as long as its owner wants, on loopback, in a folder of
// its own.
type Server struct {
	dsn     string
	dir     string
	guard   Guard
	process *exec.Cmd
	ended   chan struct{} // closed when the server has ended
	// forget the guards, in this order, when the server is gone.
	forget []func()
}

// account owns the database. It is not the name of anybody on the system.
const account = "harness"

// startPatience bounds the time from the start of a server to its first answer.
const startPatience = 60 * time.Second

// Start makes a database and runs it, with the programs of the system, or else with those
// that embedded-postgres publishes. A server refuses to run as root; started by root it runs
// under a user of its own. Where there are no programs the error is ErrUnavailable. A guard
// of nil is nobody.
func Start(ctx context.Context, guard Guard) (*Server, error) {
	from := installed
	if _, err := programs(); err != nil {
		from = unpacked
	}
	return start(ctx, guard, from)
}

// origin gives the folder of initdb and postgres; it may put them into the server's own.
type origin func(ctx context.Context, dir string) (bin string, err error)

func installed(context.Context, string) (string, error) { return programs() }

func start(ctx context.Context, guard Guard, from origin) (*Server, error) {
	user, err := ordinary()
	if err != nil {
		return nil, err
	}
	if guard == nil {
		guard = nobody{}
	}
	s := &Server{guard: guard, ended: make(chan struct{})}
	if err := s.folder(user); err != nil {
		return nil, errors.Join(fmt.Errorf("postgres: %w", err), s.Close())
	}
	bin, err := from(ctx, s.dir)
	if err == nil {
		err = s.start(ctx, bin, user)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("postgres: %w", err), s.Close())
	}
	return s, nil
}

// nobody guards nothing.
type nobody struct{}

func (nobody) Guard(int) (func(), error)     { return func() {}, nil }
func (nobody) Folder(string) (func(), error) { return func() {}, nil }

// DSN holds the password: it is for an environment, never for a file, a log or an argument.
func (s *Server) DSN() string { return s.dsn }

func (s *Server) start(ctx context.Context, bin string, user *identity) error {
	password := rand.Text()
	port, err := freePort()
	if err != nil {
		return err
	}
	if err := s.initialise(ctx, bin, user, password); err != nil {
		return err
	}
	s.dsn = fmt.Sprintf("postgres://%s:%s@127.0.0.1:%d/postgres?sslmode=disable", account, password, port)
	var said bytes.Buffer
	s.process = exec.Command(filepath.Join(bin, "postgres"), "-D", s.data(), "-h", "127.0.0.1", "-p", strconv.Itoa(port), "-k", s.dir, "-F")
	s.process.Dir = s.dir
	s.process.Stderr = &said
	user.applyTo(s.process)
	if err := s.process.Start(); err != nil {
		s.process = nil
		return err
	}
	go func() {
		_ = s.process.Wait() // how it ended is in what it said
		close(s.ended)
	}()
	release, err := s.guard.Guard(s.process.Process.Pid)
	if err != nil {
		return err
	}
	s.forget = append(s.forget, release)
	return s.answers(ctx, &said)
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// initialise makes the folder of the data, with one account that needs its password.
func (s *Server) initialise(ctx context.Context, bin string, user *identity, password string) error {
	secret := filepath.Join(s.dir, "password")
	if err := os.WriteFile(secret, []byte(password+"\n"), 0o600); err != nil {
		return err
	}
	defer os.Remove(secret)
	if err := user.own(secret); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "-D", s.data(), "-U", account, "-A", "scram-sha-256", "--pwfile", secret,
		"-E", "UTF8", "--no-locale", "-N")
	cmd.Dir = s.dir
	user.applyTo(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, lastLine(out))
	}
	return nil
}

// answers waits for the first answer.
func (s *Server) answers(ctx context.Context, said *bytes.Buffer) error {
	db, err := sql.Open("pgx", s.dsn)
	if err != nil {
		return errors.New("the DSN cannot be read")
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if db.PingContext(ctx) == nil {
			return nil
		}
		select {
		case <-s.ended:
			return fmt.Errorf("the server ended at once: %s", lastLine(said.Bytes()))
		case <-ctx.Done():
			return fmt.Errorf("the server does not answer: %w", ctx.Err())
		case <-tick.C:
		}
	}
}

// closePatience bounds the polite end of a server.
const closePatience = 10 * time.Second

// Close ends the server and removes its data.
func (s *Server) Close() error {
	if s.process != nil {
		_ = s.process.Process.Signal(os.Interrupt) // fast shutdown; it may have ended
		select {
		case <-s.ended:
		case <-time.After(closePatience):
			_ = s.process.Process.Kill()
			<-s.ended
		}
	}
	if err := os.RemoveAll(s.dir); err != nil {
		return fmt.Errorf("postgres: %w", err)
	}
	for _, forget := range s.forget {
		forget()
	}
	return nil
}

// programs finds the folder with initdb and postgres: on the path, or where packages put them.
func programs() (string, error) {
	places := filepath.SplitList(os.Getenv("PATH"))
	for _, pattern := range []string{
		"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin", "/usr/local/opt/postgresql*/bin",
	} {
		found, _ := filepath.Glob(pattern) // the patterns are well formed
		places = append(places, found...)
	}
	for _, place := range places {
		if runs(filepath.Join(place, "initdb")) && runs(filepath.Join(place, "postgres")) {
			return place, nil
		}
	}
	return "", ErrUnavailable
}

func runs(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// folder makes a fresh one that the server's user can reach: not in the home of root.
func (s *Server) folder(user *identity) error {
	dir, err := os.MkdirTemp(user.parent(), "harness-postgres-")
	if err != nil {
		return err
	}
	s.dir = dir
	done, err := s.guard.Folder(dir)
	if err != nil {
		return err
	}
	s.forget = append(s.forget, done)
	return user.own(dir)
}

// freePort is one that nobody listens at now.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1]
}
