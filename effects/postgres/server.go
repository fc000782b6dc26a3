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
var ErrUnavailable = errors.New("no postgres: set HARNESS_POSTGRES to the DSN of a database, or install the server's package")

// Server is a PostgreSQL that lives as long as its owner wants, on loopback, in a folder of
// its own.
type Server struct {
	dsn     string
	dir     string
	process *exec.Cmd
	ended   chan struct{} // closed when the server has ended
}

// account owns the database. It is not the name of anybody on the system.
const account = "harness"

// startPatience bounds the time from the start of a server to its first answer.
const startPatience = 60 * time.Second

// Start makes a database with the programs of the system and runs it. A server refuses to
// run as root; started by root it runs under a user of its own. Where there are no
// programs the error is ErrUnavailable.
func Start(ctx context.Context) (*Server, error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	user, err := ordinary()
	if err != nil {
		return nil, err
	}
	dir, err := folder(user)
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, ended: make(chan struct{})}
	if err := s.start(ctx, bin, user); err != nil {
		return nil, errors.Join(fmt.Errorf("postgres: %w", err), s.Close())
	}
	return s, nil
}

// DSN holds the password: it is for an environment, never for a file, a log or an argument.
func (s *Server) DSN() string { return s.dsn }

// PID is the server's process.
func (s *Server) PID() int { return s.process.Process.Pid }

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

// folder is a fresh one that the server's user can reach: not in the home of root.
func folder(user *identity) (string, error) {
	parent := os.TempDir()
	if home, err := os.UserHomeDir(); err == nil && user != nil && strings.HasPrefix(parent+"/", home+"/") {
		parent = "/var/tmp"
	}
	dir, err := os.MkdirTemp(parent, "harness-postgres-")
	if err != nil {
		return "", fmt.Errorf("postgres: %w", err)
	}
	if err := user.own(dir); err != nil {
		return "", errors.Join(fmt.Errorf("postgres: %w", err), os.RemoveAll(dir))
	}
	return dir, nil
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
